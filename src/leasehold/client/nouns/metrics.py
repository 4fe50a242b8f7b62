"""Metrics: how the service fares, in numbers that cost little to ask for."""

from __future__ import annotations

from datetime import datetime

from leasehold.client.core import Part
from leasehold.client.ids import checked_before
from leasehold.database import Row
from leasehold.database.rows import from_row
from leasehold.records.measures import (
    Failure,
    FleetMeasures,
    OldestReady,
    QueueThroughput,
    QueueTotals,
    Throughput,
    UnclaimedKind,
)
from leasehold.records.queues import QueueCounts


class Metrics(Part):
    """`client.metrics`: for dashboards and alerts. Nothing here counts a big table."""

    async def counts(self) -> list[QueueCounts]:
        """Return how many jobs each queue has in each state. For big tables it is the last count, made at `counted_at`."""
        rows = sorted(await self._database.call("list_queue_depths"), key=lambda row: (row["queue"], row["state"]))
        return [
            QueueCounts(
                queue=row["queue"],
                state=row["state"],
                jobs=row["jobs"],
                counted_at=None if row["is_exact"] else row["counted_at"],
            )
            for row in rows
        ]

    async def fleet(self) -> FleetMeasures:
        """Return how many workers are in which state, their slots, and the jobs that they hold."""
        (row,) = await self._database.call("measure_fleet")
        return from_row(FleetMeasures, row)

    async def oldest_ready(self) -> list[OldestReady]:
        """List the queues with ready jobs, and how long the oldest of each has waited."""
        return [from_row(OldestReady, row) for row in await self._database.call("list_oldest_ready")]

    async def unclaimed_kinds(self, most: int = 1000) -> list[UnclaimedKind]:
        """List the kinds with ready jobs that no worker will claim, those that wait longest first.

        Args:
            most: count up to this many jobs of each kind.
        """
        return [from_row(UnclaimedKind, row) for row in await self._database.call("list_unclaimed_kinds", most)]

    async def throughput(self, since: datetime, after_id: int | None = None) -> Throughput:
        """Return how many jobs arrived in and left each queue since a moment.

        Args:
            since: not long ago, because it reads everything since; in the next call `at` of this answer.
            after_id: in the next call `newest_id` of this answer.
        """
        rows = await self._database.call("measure_flow", since, checked_before(after_id))
        queues = [from_row(QueueThroughput, row) for row in rows if row["queue"] is not None]
        return Throughput(at=rows[0]["at"], newest_id=rows[0]["newest_id"], queues=queues)

    async def failures(self, since: datetime, most: int = 20) -> list[Failure]:
        """List the latest attempts that failed since a moment, latest first.

        Args:
            since: not long ago, because it reads everything since.
            most: at most this many.
        """
        return [from_row(Failure, row) for row in await self._database.call("list_failures", since, most)]

    async def totals(self) -> list[QueueTotals]:
        """Return everything counted so far, by queue."""
        return [from_row(QueueTotals, row) for row in await self._database.call("get_totals")]

    async def time_bounds(self) -> list[float]:
        """Return the upper bounds, in seconds, of the counts in `QueueTotals`."""
        rows: list[Row] = await self._database.call("bucket_bounds")
        return list(rows[0][0])
