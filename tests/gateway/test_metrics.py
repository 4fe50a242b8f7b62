from __future__ import annotations

from typing import cast

from leasehold.client.nouns.metrics import Metrics
from leasehold.errors import DatabaseUnavailable
from leasehold.gateway.metrics import (
    MOST_QUEUES,
    DatabaseMetrics,
    age_values,
    depth_values,
    total_values,
)
from leasehold.observability.metrics import HistogramValue
from leasehold.records.measures import FleetMeasures, OldestReady, QueueTotals
from leasehold.records.queues import QueueCounts
from leasehold.records.workers import IdentityCount
from tests.support.flavours import under_asyncio

FLEET = FleetMeasures(
    ready=1,
    paused=0,
    draining=0,
    stale=0,
    backing_off=0,
    deaf=0,
    slots=3,
    held_jobs=2,
    overdue_jobs=0,
    lost_jobs=0,
    lost_wake_ups=3,
)


class FakeMeasures:
    """Answers with little."""

    is_away = False

    async def fleet(self) -> FleetMeasures:
        if self.is_away:
            raise DatabaseUnavailable("away")
        return FLEET

    async def identities(self) -> list[IdentityCount]:
        return [IdentityCount(state="ready", identities=4)]

    async def counts(self) -> list[QueueCounts]:
        return []

    async def oldest_ready(self) -> list[OldestReady]:
        return []

    async def totals(self) -> list[QueueTotals]:
        return []

    async def time_bounds(self) -> list[float]:
        return [1.0]


@under_asyncio
async def test_a_database_is_measured_unless_it_is_away() -> None:
    client = FakeMeasures()
    measured = DatabaseMetrics(cast("Metrics", client))
    found = await measured.values()
    assert found["leasehold_jobs_held"] == {(): 2}
    assert found["leasehold_workers_lost_wake_ups"] == {(): 3}
    assert found["leasehold_egress_identities"] == {("ready",): 4}
    client.is_away = True
    assert await measured.values() == {"leasehold_up": {(): 0}}


def test_more_queues_than_anybody_looks_at_are_shown_as_one() -> None:
    depths = [QueueCounts(queue=f"q{number}", state="pending", jobs=number + 1) for number in range(MOST_QUEUES + 2)]
    found = depth_values(depths)["leasehold_jobs"]
    assert len(found) == MOST_QUEUES + 1
    assert found["(other)", "pending"] == 1 + 2


def test_of_too_many_queues_those_that_wait_longest_are_shown() -> None:
    oldest = [OldestReady(queue=f"q{number}", waits_for=number - 1.0) for number in range(MOST_QUEUES + 1)]
    found = age_values(oldest)["leasehold_oldest_ready_job_seconds"]
    assert ("q0",) not in found
    assert found["q1",] == 0.0


def test_totals_become_counters_and_histograms() -> None:
    totals = QueueTotals(
        queue="q", arrivals=9, starts=8, completed=5, failed=1, cancelled=2, retries=3,
        wait_seconds=1.5, run_seconds=2.5, waits=[1, 2], runs=[3, 4],
    )  # fmt: skip
    found = total_values([totals], [1.0])
    assert found["leasehold_jobs_ended_total"] == {("q", "completed"): 5, ("q", "failed"): 1, ("q", "cancelled"): 2}
    assert found["leasehold_job_run_seconds"] == {("q",): HistogramValue([1.0], [3, 4], 2.5)}
