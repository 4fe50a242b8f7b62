"""What queues need, and what they are heading for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from leasehold.capacity.records import HOURS, CapacityPlan, CapacityRecord, QueueRates, Rollup, WorkersNeeded, scenarios
from leasehold.client.section import Section
from leasehold.database.rows import from_row
from leasehold.records.jobs import JobRecord

UNBOUNDED = 1_000_000


class Capacity(Section):
    """The section of the client about how much queues have to do and can do. Nothing here counts a big table."""

    async def capacities(self) -> list[CapacityRecord]:
        """What each queue has, does and can do."""
        return [from_row(CapacityRecord, row) for row in await self._database.call("list_capacity")]

    async def capacity(
        self,
        queue: str,
        *,
        hours: Sequence[float] = HOURS,
        target_wait: float = 30.0,
        what_if: Sequence[float] = (0.5,),
    ) -> CapacityPlan | None:
        """What one queue has, needs and is heading for; None where nothing is known of it.

        Args:
            queue: which.
            hours: in which times it is to be through.
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
        """How many workers it takes to be through in so many hours, while jobs go on coming; None where nobody knows.

        Raises BadInput.
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
        """How many workers a queue ought to have now: one number for a scaler.

        Args:
            queue: which.
            target_wait: within how many seconds 95 of 100 jobs ought to start.
            least, most: bounds of the answer.
            current: how many there are; with it, the answer is not a little less.
            hysteresis: what share of `current` counts as a little.
            slots: of one worker; those of the active ones if not given.

        Raises:
            BadInput: a parameter is out of range.
        """
        found = await self._database.call_value(
            "desired_workers", queue, timedelta(seconds=target_wait), least, most, current, hysteresis, slots
        )
        return int(str(found))

    async def rates(self, minutes: int = 60, queue: str | None = None) -> list[QueueRates]:
        """What happened in the last minutes, by queue. Raises BadInput."""
        return [from_row(QueueRates, row) for row in await self._database.call("get_rates", queue, minutes)]

    async def rollups(
        self,
        queue: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        page_size: int | None = None,
    ) -> list[Rollup]:
        """What happened, minute by minute, oldest first; of more than two days ago hour by hour.

        Args:
            queue: only this one.
            since, until: only minutes that began from then on, or before then; the last hour where nothing is said.
            page_size: at most so many, None for all.
        """
        rows = await self._database.call("list_rollups", queue, since, until, page_size)
        return [from_row(Rollup, row) for row in rows]

    async def last_completion(self, queue: str) -> datetime | None:
        """When a job of the queue completed last."""
        found = await self._database.call_value("get_last_completion", queue)
        return found if isinstance(found, datetime) else None

    async def recent(self, queue: str, *, state: str | None = None, page_size: int = 20) -> list[JobRecord]:
        """The jobs of a queue that finished last, newest first. Raises BadInput."""
        rows = await self._database.call("list_recent_jobs", queue, state, page_size)
        return [from_row(JobRecord, row) for row in rows]

    async def active_of(self, key: str, *, page_size: int = 20) -> list[JobRecord]:
        """The job that holds a key, and those that may run when it is free, in their order. Raises BadInput."""
        rows = await self._database.call("list_key_jobs", key, page_size)
        return [from_row(JobRecord, row) for row in rows]
