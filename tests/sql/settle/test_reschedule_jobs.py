from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty, enqueue_many, job, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker


async def test_a_rescheduled_job_runs_again_after_its_delay(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        assert await worker.reschedule(await worker.given(), [3600.0], ["rate limit"]) == {}
        row = await job(connection, 1)
        assert (row["state"], row["run_at"]) == ("scheduled", datetime(2026, 3, 1, 13, tzinfo=UTC))
        assert (row["attempt"], row["spared_attempts"], row["worker_id"]) == (1, 1, None)
        assert await worker.claim() == []
        await freeze(connection, "2026-03-01 13:00Z")
        assert (await worker.claim_one())["attempt"] == 2


async def test_the_reason_is_in_the_timeline(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await worker.start(claimed)
    await worker.reschedule(claimed, [5.0], ["rate limit"])
    rows = await database.call("get_job_timeline", 1)
    assert [(row["event"], row["message"]) for row in rows] == [
        ("created", None),
        ("claimed", None),
        ("started", None),
        ("rescheduled", "rate limit"),
    ]


async def test_without_a_delay_it_is_pending_at_once(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for delay in [0.0, -3.0]:
        await empty(database)
        with subtests.test(delay=delay):
            await worker.reschedule(await worker.given(), [delay])
            assert await states(database) == {1: "pending"}


async def test_a_senseless_delay_is_cut_to_a_hundred_years(database: Database, subtests: pytest.Subtests) -> None:
    for delay in [float("inf"), float("nan"), 1e300]:
        await empty(database)
        with subtests.test(delay=delay):
            async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
                assert await worker.reschedule(await worker.given(), [delay]) == {}
                row = await job(connection, 1)
            assert row["run_at"] == datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(seconds=3155760000)


async def test_a_time_may_stand_in_the_place_of_a_delay(database: Database) -> None:
    """Of four jobs: a delay, a time to come, one that is past and one that never comes."""
    noon, later = (
        datetime(2026, 3, 1, 12, tzinfo=UTC),
        datetime(2026, 3, 1, 18, 30, tzinfo=timezone(timedelta(hours=2))),
    )
    never = datetime.max.replace(tzinfo=UTC)
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await enqueue_many(connection, [{"kind": "a"}] * 4)
        ats = [None, later, noon - timedelta(days=1), never]
        assert await worker.reschedule(await worker.claim(), [5.0, None, None, None], None, ats) == {}
        rows = await connection.fetch("select state, run_at from leasehold.jobs order by id")
    assert [tuple(row) for row in rows] == [
        ("scheduled", noon + timedelta(seconds=5)),
        ("scheduled", later.astimezone(UTC)),
        ("pending", noon),
        ("scheduled", noon + timedelta(seconds=3155760000)),
    ]


async def test_each_job_has_its_own_delay_and_reason(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 3)
    await worker.reschedule(claimed[::-1], [60.0, 0.0, 5.0], ["three", None, "one"])
    assert await states(database) == {1: "scheduled", 2: "pending", 3: "scheduled"}
    rows = await database.fetch("select job_id, message from leasehold.job_events order by job_id")
    assert [tuple(row) for row in rows] == [(1, "one"), (2, None), (3, "three")]
