"""How everything fares, in numbers that cost little to ask for."""

from __future__ import annotations

from datetime import datetime

import msgspec

from leasehold.client.ids import checked_before
from leasehold.client.section import Section
from leasehold.database import Row
from leasehold.database.rows import from_row


class FleetMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The workers and what they hold.

    Attributes:
        ready, paused, draining, stale: workers by state. backing_off: those that claim nothing for lack of memory or CPU.
        deaf: those that poll because they do not hear notifications.
        slots: of ready workers. held_jobs: claimed and running.
        overdue_jobs: whose lease has run out and nobody has taken them back yet.
        lost_jobs: taken back so far from workers that are still known. lost_wake_ups: jobs that those found by polling, though
            they listened and nobody had rung for them.
    """

    ready: int
    paused: int
    draining: int
    stale: int
    backing_off: int
    deaf: int
    slots: int
    held_jobs: int
    overdue_jobs: int
    lost_jobs: int
    lost_wake_ups: int


class QueueDepth(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs a queue has in a state; `is_exact` is False for the last count of a big table."""

    queue: str
    state: str
    jobs: int
    is_exact: bool


class OldestReady(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds the oldest job of a queue that could run has waited."""

    queue: str
    waits_for: float


class UnclaimedKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind whose ready jobs in a queue nobody will claim.

    Attributes:
        reason: `paused`: the queue is; `paused_workers`: all that serve it are; `unserved`: no live worker has both.
        jobs: ready, counted up to a limit.
        oldest_run_at: when the first of them was due. waits_for: seconds since.
    """

    queue: str
    kind: str
    reason: str
    jobs: int
    oldest_run_at: datetime
    waits_for: float


class QueueTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What has happened in a queue since `since`; moved once a minute. `waits` and `runs` count by the bounds of
    `time_bounds`, the last one what is above them all."""

    queue: str
    arrivals: int
    starts: int
    completed: int
    failed: int
    cancelled: int
    retries: int
    wait_seconds: float
    run_seconds: float
    waits: list[int]
    runs: list[int]


class QueueFlow(msgspec.Struct, frozen=True, kw_only=True):
    """What went into and out of a queue since the last look."""

    queue: str
    arrived: int
    completed: int
    failed: int
    cancelled: int


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """What went into and out of all queues. The next look takes `at` and `newest_id`."""

    at: datetime
    newest_id: int
    queues: list[QueueFlow]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that failed; `is_final`: and the job with it. kind and queue are None where the job is gone."""

    at: datetime
    job_id: int
    attempt: int
    kind: str | None
    queue: str | None
    worker_id: str | None
    message: str | None
    is_final: bool


class Measures(Section):
    """The section of the client that measures."""

    async def fleet(self) -> FleetMeasures:
        """The workers and what they hold."""
        (row,) = await self._database.call("measure_fleet")
        return from_row(FleetMeasures, row)

    async def depths(self) -> list[QueueDepth]:
        """Jobs by queue and state, without counting a big table."""
        return [from_row(QueueDepth, row) for row in await self._database.call("list_queue_depths")]

    async def oldest_ready(self) -> list[OldestReady]:
        """The queues in which something is ready, with the age of the oldest."""
        return [from_row(OldestReady, row) for row in await self._database.call("list_oldest_ready")]

    async def unclaimed_kinds(self, most: int = 1000) -> list[UnclaimedKind]:
        """Kinds with ready jobs that nobody will claim, those that wait longest first; counts up to `most` jobs of each."""
        return [from_row(UnclaimedKind, row) for row in await self._database.call("list_unclaimed_kinds", most)]

    async def flow(self, since: datetime, after_id: int | None = None) -> Flow:
        """What went into and out of the queues since a moment that is not long ago."""
        rows = await self._database.call("measure_flow", since, checked_before(after_id))
        queues = [from_row(QueueFlow, row) for row in rows if row["queue"] is not None]
        return Flow(at=rows[0]["at"], newest_id=rows[0]["newest_id"], queues=queues)

    async def failures(self, since: datetime, most: int = 20) -> list[Failure]:
        """The latest attempts that failed since a moment that is not long ago, latest first."""
        return [from_row(Failure, row) for row in await self._database.call("list_failures", since, most)]

    async def totals(self) -> list[QueueTotals]:
        """Everything counted so far, by queue."""
        return [from_row(QueueTotals, row) for row in await self._database.call("get_totals")]

    async def time_bounds(self) -> list[float]:
        """Upper bounds, in seconds, of the counts in `QueueTotals`."""
        rows: list[Row] = await self._database.call("bucket_bounds")
        return list(rows[0][0])
