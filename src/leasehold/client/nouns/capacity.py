"""Capacity: what queues need, and what they are heading for."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime, timedelta

from leasehold.capacity.records import HOURS, CapacityPlan, CapacityRecord, QueueRates, Rollup, WorkersNeeded, scenarios
from leasehold.client.core import Part
from leasehold.database.rows import from_row

UNBOUNDED = 1_000_000


class Capacity(Part):
    """`client.capacity`: how much queues have to do and can do. Nothing here counts a big table."""

    async def list(self) -> list[CapacityRecord]:
        """List what each queue has, does and can do."""
        return [from_row(CapacityRecord, row) for row in await self._database.call("list_capacity")]

    async def get(
        self,
        queue: str,
        *,
        hours: Sequence[float] = HOURS,
        target_wait: float = 30.0,
        what_if: Sequence[float] = (0.5,),
    ) -> CapacityPlan | None:
        """Return what one queue has, needs and is heading for; None where nothing is known of it.

        Example:
            plan = await client.capacity.get("mail", target_wait=10)
            print(plan.desired_workers if plan else 0)

        Args:
            queue: which.
            hours: in how many hours it is to be empty; one answer for each.
            target_wait: within how many seconds a job ought to start.
            what_if: shares by which arrivals may grow, 0.5 for half as many again.

        Raises:
            BadInput: hours or target_wait out of range.
        """
        rows = await self._database.call("get_capacity", queue)
        if not rows:
            return None
        has = from_row(CapacityRecord, rows[0])
        needed = [WorkersNeeded(hours=each, workers=await self.workers_needed(queue, each)) for each in hours]
        return CapacityPlan(
            capacity=has,
            workers_needed=needed,
            target_wait=target_wait,
            desired_workers=await self.desired_workers(queue, target_wait, most=UNBOUNDED),
            scenarios=scenarios(has, target_wait, what_if),
        )

    async def workers_needed(self, queue: str, hours: float = 1.0) -> int | None:
        """Return how many workers empty a queue in this time, while jobs go on arriving; None where it is not known.

        Raises:
            BadInput: hours out of range.
        """
        needed = await self._database.call_value("workers_needed", queue, hours)
        return None if needed is None else int(str(needed))

    async def desired_workers(
        self,
        queue: str,
        target_wait: float = 30.0,
        *,
        least: int = 0,
        most: int = 1000,
        current: int | None = None,
        hysteresis: float = 0.1,
        slots: int | None = None,
    ) -> int:
        """Return how many workers a queue ought to have now: one number for an autoscaler.

        Args:
            queue: which.
            target_wait: within how many seconds 95 of 100 jobs ought to start.
            least, most: bounds of the answer.
            current: how many there are; an answer that is only a little less becomes this.
            hysteresis: what share of `current` counts as a little.
            slots: of one worker; those of the active ones if not given.

        Raises:
            BadInput: a parameter is out of range.
        """
        found = await self._database.call_value(
            "desired_workers", queue, timedelta(seconds=target_wait), least, most, current, hysteresis, slots
        )
        return int(str(found))

    async def rates(self, minutes: int = 60, queue: str | None = None) -> builtins.list[QueueRates]:
        """Return what happened in the last minutes, by queue.

        Raises:
            BadInput: minutes out of range.
        """
        return [from_row(QueueRates, row) for row in await self._database.call("get_rates", queue, minutes)]

    async def rollups(
        self,
        queue: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        page_size: int | None = None,
    ) -> builtins.list[Rollup]:
        """List what happened, minute by minute, oldest first; what is older than two days hour by hour.

        Args:
            queue: only this one.
            since, until: only minutes that began from then on, or before then; the last hour where both are None.
            page_size: at most this many, None for all.
        """
        rows = await self._database.call("list_rollups", queue, since, until, page_size)
        return [from_row(Rollup, row) for row in rows]
