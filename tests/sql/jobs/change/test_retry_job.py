from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, states
from tests.support.sql_waits import heard, meet_twice
from tests.support.sql_worker import SqlWorker


async def test_a_failed_job_runs_once_more_and_its_attempts_go_on(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, args='{"a": 1}', metadata='{"m": 1}', queue="q", priority=4, max_attempts=1)
    before = await job(database, 1)
    await worker.fail(await worker.claim())
    assert await database.call_value("retry_job", 1) == "pending"
    after = await job(database, 1)
    for column in ("kind", "queue", "key", "priority", "args", "metadata", "created_at", "spared_attempts"):
        assert after[column] == before[column], column
    assert (after["state"], after["attempt"], after["max_attempts"]) == ("pending", 1, 2)
    assert after["run_at"] > before["run_at"]
    assert (await worker.claim_one())["attempt"] == 2


async def test_exactly_one_more_attempt_is_allowed_when_they_are_used_up(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(max_attempts=1))
    await database.call("retry_job", 1)
    assert (await worker.fail(await worker.claim()))[1]["outcome"] == "failed"


async def test_attempts_that_were_left_stay(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(max_attempts=5), discard=[True])
    await database.call("retry_job", 1)
    assert (await job(database, 1))["max_attempts"] == 5


async def test_a_cancelled_job_can_be_retried(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    await database.call("cancel_job", 1)
    assert await database.call_value("retry_job", 1) == "pending"
    assert await worker.complete(await worker.claim()) == {}


async def test_a_scheduled_job_runs_now(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "delay": 3600}])
    assert await database.call_value("retry_job", 1) == "pending"
    assert (await worker.claim_one())["job_id"] == 1
    assert await events(database, 1) == [("created", 0), ("retried", 0), ("claimed", 1)]


async def test_a_keyed_job_stands_in_line(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(key="k"), discard=[True])
    claimed = await worker.given(key="k")
    assert await database.call_value("retry_job", 1) == "waiting"
    await worker.complete(claimed)
    assert await states(database) == {1: "pending", 2: "completed"}
    await worker.fail(await worker.claim(), discard=[True])
    assert await database.call_value("retry_job", 1) == "pending"


async def test_an_open_job_needs_no_retry(database: Database, worker: SqlWorker, subtests: pytest.Subtests) -> None:
    for state in ["pending", "waiting", "claimed", "running"]:
        await empty(database)
        with subtests.test(state=state):
            job_id = await enqueue(database, key="k")
            if state == "waiting":
                job_id = await enqueue(database, key="k")
            elif state != "pending":
                claimed = await worker.claim()
                if state == "running":
                    await worker.start(claimed)
            before = await snapshot(database)
            with pytest.raises(WrongState, match=f"job {job_id} is {state} and needs no retry"):
                await database.call("retry_job", job_id)
            assert await snapshot(database) == before


async def test_a_completed_job_stays_completed(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given())
    with pytest.raises(WrongState, match="job 1 is completed and cannot be retried"):
        await database.call("retry_job", 1)


async def test_a_job_that_is_not_there_cannot_be_retried(database: Database) -> None:
    with pytest.raises(UnknownJob, match="there is no job 9"):
        await database.call("retry_job", 9)


async def test_a_whole_life_stays_in_the_timeline(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given(max_attempts=1)
    await worker.start(claimed)
    await worker.fail(claimed)
    await database.call("retry_job", 1)
    await worker.claim()
    await expire(database, 1)
    await database.call("reap_jobs")
    await database.call("retry_job", 1)
    await database.call("cancel_job", 1)
    await database.call("retry_job", 1)
    await worker.complete(await worker.claim())
    assert await events(database, 1) == [
        ("created", 0),
        ("claimed", 1),
        ("started", 1),
        ("failed", 1),
        ("retried", 1),
        ("claimed", 2),
        ("reaped", 2),
        ("failed", 2),
        ("retried", 2),
        ("cancelled", 2),
        ("retried", 2),
        ("claimed", 3),
        ("started", 3),
        ("completed", 3),
    ]


async def test_idle_workers_are_woken(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, queue="q")
    await database.call("cancel_job", 1)
    await worker.register()
    await worker.claim()
    assert await heard(database, lambda: database.call("retry_job", 1)) == ["wake:q"]


async def test_of_two_retries_at_once_one_is_told_that_none_is_needed(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(), discard=[True])
    with pytest.raises(WrongState, match="job 1 is pending and cannot be retried"):
        await meet_twice(database, lambda each: each.call("retry_job", 1))
    assert await states(database) == {1: "pending"}


async def test_a_former_owner_stays_refused_after_a_retry(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await worker.fail(claimed, discard=[True])
    await database.call("retry_job", 1)
    assert await worker.complete(claimed) == {1: "taken_by_another_worker"}
    await worker.claim()
    assert await worker.complete(claimed) == {1: "taken_by_another_worker"}
