"""Metrics: how the service fares, in numbers that cost little to ask for."""

from __future__ import annotations

from datetime import datetime

import msgspec

from leasehold.asks import checked_before
from leasehold.client.core import Part
from leasehold.database import Row
from leasehold.database.calls import from_row
from leasehold.records.measures import (
    Failure,
    FailureGroup,
    FleetMeasures,
    GroupFailure,
    OldestReady,
    QueueThroughput,
    QueueTotals,
    SlowQueue,
    StuckKey,
    Throughput,
    UnclaimedKind,
)
from leasehold.records.queues import QueueCounts
from leasehold.records.workers import IdentityCount


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
                is_partial=row.get("is_partial", False),
            )
            for row in rows
        ]

    async def fleet(self) -> FleetMeasures:
        """Return how many workers are in which state, their slots, and the jobs that they hold."""
        (row,) = await self._database.call("measure_fleet")
        return from_row(FleetMeasures, row)

    async def identities(self) -> list[IdentityCount]:
        """Return how many egress identities are in each state that has any."""
        return await self._records(IdentityCount, "count_identities")

    async def oldest_ready(self) -> list[OldestReady]:
        """List the queues with ready jobs, and how long the oldest of each has waited."""
        return await self._records(OldestReady, "list_oldest_ready")

    async def unclaimed_kinds(self, most: int = 1000) -> list[UnclaimedKind]:
        """List the kinds with ready jobs that no worker will claim, those that wait longest first.

        Args:
            most: count up to this many jobs of each kind.
        """
        return await self._records(UnclaimedKind, "list_unclaimed_kinds", most)

    async def stuck_keys(self, longer_than: float = 300, most: int = 20) -> list[StuckKey]:
        """List the keys that one job has held for long while others of the key wait, those held longest first.

        Args:
            longer_than: seconds that are long. most: at most this many.

        Raises:
            BadInput: `longer_than` is negative, or `most` not from 1 to 1000.
        """
        return await self._records(StuckKey, "list_stuck_keys", float(longer_than), most)

    async def slow_queues(self) -> list[SlowQueue]:
        """List the queues whose attempts took three times as long in the last ten minutes as in the two hours before."""
        return await self._records(SlowQueue, "list_slow_queues")

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
        return await self._records(Failure, "list_failures", since, most)

    async def failure_groups(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        kind: str | None = None,
        queue: str | None = None,
        fingerprint: str | None = None,
        most: int = 100,
        looked_at: int = 2000,
    ) -> list[FailureGroup]:
        """Group the failures of some hours by kind, type of the error and place; the group that failed last comes first.

        The newest failed attempts and the newest failed jobs are looked at, whatever the tables hold.

        Args:
            since, until: from then on (a day before `until`), before then (now).
            kind, queue, fingerprint: only such.
            most: at most this many groups.
            looked_at: so many failed attempts, and so many failed jobs, 1 to 20000.

        Raises:
            BadInput: `until` is not after `since`, or `looked_at` is out of range.
        """
        values = (since, until, kind, queue, most, looked_at)
        rows = await self._database.call("list_failure_groups", *values, only_fingerprint=fingerprint)
        return [msgspec.convert({**row, "counts": list(row["counts"])}, FailureGroup) for row in rows]

    async def group_failures(
        self,
        fingerprint: str,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        only_final: bool = False,
        page_size: int = 50,
    ) -> list[GroupFailure]:
        """List the newest failures of a group of `failure_groups`, the latest first.

        Args:
            since, until: as there.
            only_final: only jobs that failed for good.
            page_size: at most this many, 1 to 10000.

        Raises:
            BadInput: `page_size` is out of range.
        """
        return await self._records(
            GroupFailure, "list_group_failures", fingerprint, since, until, only_final, page_size
        )

    async def totals(self) -> list[QueueTotals]:
        """Return everything counted so far, by queue."""
        return await self._records(QueueTotals, "get_totals")

    async def time_bounds(self) -> list[float]:
        """Return the upper bounds, in seconds, of the counts in `QueueTotals`."""
        rows: list[Row] = await self._database.call("bucket_bounds")
        return list(rows[0][0])
