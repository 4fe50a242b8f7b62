"""Capacity: what queues need, and what they are heading for."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from leasehold.capacity.hindsight import KNOWN, STEP, Hindsight, look_back
from leasehold.capacity.records import (
    HOURS,
    CapacityPlan,
    CapacityRecord,
    HistoryStep,
    QueueMinute,
    QueueRates,
    Rollup,
    WhatIf,
    WorkersNeeded,
    scenarios,
    suppose,
)
from leasehold.client.core import Part
from leasehold.records.workers import WorkerRecord
from leasehold.validation import LONGEST_TIME, refusal

UNBOUNDED = 1_000_000
MOST_HOURS_BACK = 24


class Capacity(Part):
    """`client.capacity`: how much queues have to do and can do. Nothing here counts a big table."""

    async def list(self) -> list[CapacityRecord]:
        """List what each queue has, does and can do."""
        return await self._records(CapacityRecord, "list_capacity")

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
            hours: in how many hours it is to be empty; one answer for each.
            target_wait: within how many seconds a job ought to start.
            what_if: shares by which arrivals may grow, 0.5 for half as many again.

        Raises:
            BadInput: hours or target_wait out of range.
        """
        if (has := await self._known(queue)) is None:
            return None
        needed = [WorkersNeeded(hours=each, workers=await self.workers_needed(queue, each)) for each in hours]
        return CapacityPlan(
            capacity=has,
            workers_needed=needed,
            target_wait=target_wait,
            desired_workers=await self.desired_workers(queue, target_wait, most=UNBOUNDED),
            scenarios=scenarios(has, target_wait, what_if),
        )

    async def what_if(
        self, queue: str, *, workers: int | None = None, more: float = 0.0, target_wait: float = 30.0
    ) -> WhatIf | None:
        """Return what becomes of a queue with that many workers and that much more load; None where nothing is known of it.

        Example:
            found = await client.capacity.what_if("mail", workers=2, more=0.5)
            print(found.supposed)

        Args:
            workers: how many; None: as many as there are.
            more: by which share arrivals grow, 0.5 for half as many again, -0.5 for half of them.
            target_wait: within how many seconds 95 of 100 jobs ought to start.

        Raises:
            BadInput: a number out of range.
        """
        if not -1 <= more <= 1000 or not 0 < target_wait <= LONGEST_TIME or not 0 <= (workers or 0) <= UNBOUNDED:
            raise refusal(
                "what_if", "a share from -1 to 1000, some seconds and a number of workers", (more, target_wait)
            )
        has = await self._known(queue)
        return None if has is None else suppose(has, workers=workers, more=more, target_wait=target_wait)

    async def hindsight(self, queue: str, hours: float = 1.0) -> Hindsight | None:
        """Return what the forecast would have said in the last hours, and what happened; None where nothing is known of the queue.

        Args:
            hours: how far back, up to 24.

        Raises:
            BadInput: hours out of range.
        """
        if not 0 < hours <= MOST_HOURS_BACK:
            raise refusal("hours", f"a number above 0, at most {MOST_HOURS_BACK}", hours)
        if (has := await self._known(queue)) is None:
            return None
        since = has.counted_at - timedelta(hours=hours) - STEP - KNOWN
        workers = await self._records(WorkerRecord, "list_workers", True)
        (bounds,) = (await self._database.call("bucket_bounds"))[0]
        steps = max(1, round(timedelta(hours=hours) / STEP))
        return look_back(has, await self.rollups(queue, since=since), workers, list(bounds), has.counted_at, steps)

    async def _known(self, queue: str) -> CapacityRecord | None:
        return next(iter(await self._records(CapacityRecord, "get_capacity", queue)), None)

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
        return await self._records(QueueRates, "get_rates", queue, minutes)

    async def history(self, queue: str, hours: float = 1.0, *, points: int = 60) -> builtins.list[HistoryStep]:
        """List what happened in a queue over the last hours in so many steps of equal length, the oldest first.

        Raises:
            BadInput: hours are not above 0 and at most 720, or points not 1 to 500.
        """
        return await self._records(HistoryStep, "measure_history", queue, float(hours), points)

    async def minutes(self, queues: Collection[str], minutes: int = 60) -> builtins.list[QueueMinute]:
        """List how much came and ended in each of the last minutes, by queue and time; minutes without anything are left out.

        Args:
            minutes: how many, 1 to 2880.

        Raises:
            BadInput: another number of minutes.
        """
        return await self._records(QueueMinute, "list_minutes", list(queues), minutes)

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
        return await self._records(Rollup, "list_rollups", queue, since, until, page_size)
