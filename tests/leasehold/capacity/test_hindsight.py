"""The forecast of the past against a past that is known exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from msgspec import structs

from leasehold.capacity.forecast import QueueLoad, forecast
from leasehold.capacity.hindsight import STEP, look_back, percentile
from leasehold.capacity.records import Rollup
from leasehold.records.workers import WorkerRecord
from tests.leasehold.capacity.test_records import QUEUE

NOON = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)
BOUNDS = [1.0, 2.0, 4.0]


def minute(back: int, **counts: int) -> Rollup:
    """The minute that began so many minutes before noon; each job that ended ran for two seconds."""
    ended = counts.get("completed", 0)
    empty = {"arrivals": 0, "starts": 0, "completed": 0, "failed": 0, "cancelled": 0, "retries": 0}
    return Rollup(
        starts_at=NOON.replace(second=0) - timedelta(minutes=back), seconds=60, queue="q", wait_seconds=0.0,
        run_seconds=2.0 * ended, waits=[0, ended, 0, 0], runs=[0, 0, ended, 0], **{**empty, **counts},
    )  # fmt: skip


def worker(began: int, ended: int | None = None, **fields: object) -> WorkerRecord:
    """A worker with two slots that began, and ended, so many minutes before noon."""
    stopped = None if ended is None else NOON - timedelta(minutes=ended)
    one = WorkerRecord(
        worker_id="w", name="w", host="h", pid=1, version="1", app_version=None, queues=["q"], kinds=[], slots=2,
        active_jobs=0, active_job_ids=[], state="ready" if ended is None else "stopped", memory=None, memory_limit=None,
        cpu=None, cpu_limit=None, backoff=None, backoff_until=None, missing_kinds=[], outdated=False,
        started_at=NOON - timedelta(minutes=began), heartbeat_at=NOON, stopped_at=stopped, incarnation=UUID(int=1),
        silent_for=0.0, lost_wake_ups=0,
    )  # fmt: skip
    return structs.replace(one, **fields)


def test_backlogs_of_the_past_are_reckoned_back_from_the_present_one() -> None:
    rollups = [minute(12, arrivals=30, starts=10), minute(7, arrivals=20, starts=40), minute(1, arrivals=15)]
    found = look_back(QUEUE, rollups, [], BOUNDS, NOON, steps=3)
    assert [each.backlog for each in found.past] == [55.0, 35.0, 50.0]
    assert found.past[-1].at == NOON.replace(second=0) - STEP


def test_the_forecast_of_a_step_knows_what_was_before_it() -> None:
    before = [minute(back, arrivals=60, starts=60, completed=60) for back in range(15, 5, -1)]
    during = [minute(back, arrivals=6, starts=6, completed=6) for back in range(5, 0, -1)]
    (step,) = look_back(QUEUE, before + during, [worker(60)], BOUNDS, NOON, steps=1).past
    load = QueueLoad(arrivals_per_second=1.0, run_seconds=2.0, run_variation=1.0, backlog=50, held=0)
    assert step.expected_p95_wait == forecast(load, 2, horizon=STEP.total_seconds()).p95_wait_ahead
    assert step.expected_backlog == 50.0
    assert step.backlog == 50.0
    assert step.p95_wait == pytest.approx(1.95)


def test_slots_are_those_of_workers_that_were_there() -> None:
    fleet = [
        worker(60),
        worker(60, 8),
        worker(3),
        worker(60, queues=["other"]),
        worker(60, queues=[]),
        worker(60, state="stale", heartbeat_at=NOON - timedelta(minutes=9)),
    ]
    past = look_back(QUEUE, [minute(1, arrivals=1)], fleet, BOUNDS, NOON, steps=2).past
    assert [each.slots for each in past] == [8, 4]


def test_the_hour_to_come_is_told_and_a_past_without_books_is_empty() -> None:
    found = look_back(QUEUE, [], [], BOUNDS, NOON, steps=12)
    assert found.past == []
    assert [each.backlog for each in found.ahead][:2] == [50.0, 0.0]
    assert found.ahead[-1].at == NOON + timedelta(hours=1)
    assert look_back(structs.replace(QUEUE, avg_seconds=None), [], [], BOUNDS, NOON, steps=1).ahead == []


def test_a_percentile_lies_within_its_bucket() -> None:
    assert percentile([], BOUNDS) is None
    assert percentile([0, 0, 0, 0], BOUNDS) is None
    assert percentile([100, 0, 0, 0], BOUNDS) == 0.95
    assert percentile([90, 10, 0, 0], BOUNDS) == 1.5
    assert percentile([1, 0, 0, 1], BOUNDS) == 4.0
