"""Suppositions against the same forecast that the plan is made of."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import structs

from leasehold.capacity.records import CapacityRecord, scenarios, suppose

QUEUE = CapacityRecord(
    queue="q", pending=60, ready=50, claimed=0, running=4, completed_last_hour=100, failed_last_hour=0, active_workers=2,
    avg_seconds=2.0, jobs_per_worker_hour=3600.0, hours_to_drain=None, active_slots=4, slots_per_worker=2.0,
    arrivals_per_second=1.0, run_variation=1.0, waiting=10, counted_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
)  # fmt: skip


def test_what_is_supposed_is_what_the_plan_says_of_it() -> None:
    planned = {each.name: each for each in scenarios(QUEUE, 30.0, [0.5])}
    same = suppose(QUEUE, workers=None, more=0.0, target_wait=30.0)
    assert same.present == planned["as it is"]
    assert same.supposed is not None
    assert same.supposed.forecast == planned["as it is"].forecast
    fewer = suppose(QUEUE, workers=1, more=0.0, target_wait=30.0).supposed
    assert fewer is not None
    assert (fewer.workers, fewer.forecast) == (1, planned["one worker less"].forecast)
    more = suppose(QUEUE, workers=None, more=0.5, target_wait=30.0).supposed
    assert more is not None
    assert (more.name, more.forecast) == ("+50% load", planned["+50% load"].forecast)


def test_more_load_needs_more_workers_and_none_can_be_supposed() -> None:
    needs = [suppose(QUEUE, workers=0, more=each, target_wait=30.0).desired_workers or 0 for each in (-1.0, 0.0, 4.0)]
    assert needs == sorted(needs)
    assert needs[0] < needs[-1]
    nobody = suppose(QUEUE, workers=0, more=0.0, target_wait=30.0).supposed
    assert nobody is not None
    assert (nobody.forecast.slots, nobody.forecast.drain_seconds, nobody.forecast.p95_wait) == (0, None, None)


def test_nothing_can_be_supposed_where_nobody_knows_how_long_a_job_takes() -> None:
    unknown = suppose(structs.replace(QUEUE, avg_seconds=None), workers=3, more=1.0, target_wait=30.0)
    assert (unknown.present, unknown.supposed, unknown.desired_workers) == (None, None, None)
