from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_jobs import enqueue, events, job, snapshot, states
from tests.support.sql_waits import meet
from tests.support.sql_worker import SqlWorker, ids

LATER = timedelta(hours=1)


async def test_scheduled_jobs_become_due_now(database: Database, worker: SqlWorker) -> None:
    jobs = [await enqueue(database, delay=LATER) for _ in range(3)]
    rows = await database.call("trigger_jobs", [jobs[2], jobs[0], jobs[0]])
    assert [(row["job_id"], row["state"]) for row in rows] == [(jobs[0], "pending"), (jobs[2], "pending")]
    assert await states(database) == {jobs[0]: "pending", jobs[1]: "scheduled", jobs[2]: "pending"}
    assert (await events(database, jobs[0]))[-1] == ("triggered", 0)
    row = await job(database, jobs[0])
    assert row["run_at"] - row["created_at"] < LATER
    assert ids(await worker.claim()) == [jobs[0], jobs[2]]


async def test_a_job_that_waits_for_its_next_attempt_gets_it_now(database: Database, worker: SqlWorker) -> None:
    job_id = await enqueue(database)
    await worker.fail(await worker.claim(), retry_in=[3600.0])
    await database.call("trigger_jobs", [job_id])
    [claimed] = await worker.claim()
    assert (claimed["job_id"], claimed["attempt"]) == (job_id, 2)


async def test_jobs_with_a_key_take_their_place_behind_its_holder(database: Database, worker: SqlWorker) -> None:
    await worker.given(key="k")
    rows = await database.call("trigger_jobs", [await enqueue(database, key="k", delay=LATER)])
    assert [row["state"] for row in rows] == ["waiting"]
    rows = await database.call("trigger_jobs", [await enqueue(database, key="free", delay=LATER)])
    assert [row["state"] for row in rows] == ["pending"]


async def test_when_one_is_not_scheduled_none_is_triggered_and_it_is_named(
    database: Database, worker: SqlWorker
) -> None:
    done, held = await enqueue(database), await enqueue(database)
    claimed = await worker.claim()
    await worker.complete(claimed[:1])
    due, later = await enqueue(database), await enqueue(database, delay=LATER)
    before = await snapshot(database)
    with pytest.raises(
        WrongState,
        match=f"job {done} is completed, job {held} is claimed, job {due} is pending; only scheduled jobs can be triggered",
    ):
        await database.call("trigger_jobs", [later, due, held, done])
    assert await snapshot(database) == before


async def test_when_one_is_not_there_none_is_triggered_and_it_is_named(database: Database) -> None:
    later = await enqueue(database, delay=LATER)
    before = await snapshot(database)
    with pytest.raises(UnknownJob, match="no job 77, 99"):
        await database.call("trigger_jobs", [later, 99, 77])
    assert await snapshot(database) == before


async def test_no_jobs_are_triggered_without_complaint(database: Database) -> None:
    assert await database.call("trigger_jobs", []) == []
    assert await database.call("trigger_jobs", None) == []


async def test_of_a_trigger_and_a_cancel_that_meet_the_trigger_hears_of_it(database: Database) -> None:
    jobs = [await enqueue(database, delay=LATER) for _ in range(2)]
    with pytest.raises(WrongState, match=f"^job {jobs[1]} is cancelled; only scheduled"):
        await meet(
            database,
            lambda first: first.call("cancel_job", jobs[1]),
            lambda second: second.call("trigger_jobs", jobs),
        )
    assert await states(database) == {jobs[0]: "scheduled", jobs[1]: "cancelled"}
