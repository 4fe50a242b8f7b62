from __future__ import annotations

from functools import partial

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import changed_in_bulk, enqueue, enqueue_many, events, snapshot, states
from tests.support.sql_waits import meet
from tests.support.sql_worker import SqlWorker

TRIGGERED = (True, "scheduled", "pending", None)


trigger = partial(changed_in_bulk, function="trigger_scheduled_jobs")


@pytest.fixture
async def later(database: Database, worker: SqlWorker) -> Database:
    """1 waits for its second attempt, 2 is due in an hour, 3 and 4 of another queue and kind with one key after the year 2500,
    5 is pending."""
    await enqueue(database, "a")
    error = {"type": "TimeoutError", "message": "boom", "traceback": ""}
    await worker.fail(await worker.claim(), error, retry_in=[7200.0])
    keyed = {"kind": "b", "queue": "q", "key": "k", "run_at": "2500-01-02T00:00:00Z"}
    await enqueue_many(database, [{"kind": "a", "delay": 3600}, keyed, keyed, {"kind": "a"}])
    return database


async def test_all_that_match_are_run_now_and_the_others_stay(later: Database) -> None:
    assert await trigger(later, kind="a") == {1: TRIGGERED, 2: TRIGGERED}
    assert await states(later) == {1: "pending", 2: "pending", 3: "scheduled", 4: "scheduled", 5: "pending"}
    assert (await events(later, 2))[-1] == ("triggered", 0)
    assert await trigger(later) == {3: TRIGGERED, 4: (True, "scheduled", "waiting", None)}
    assert await trigger(later) == {}


async def test_a_dry_run_tells_what_would_be_done_and_does_nothing(later: Database) -> None:
    before = await snapshot(later)
    told = await trigger(later, dry_run=True)
    assert await snapshot(later) == before
    assert told == await trigger(later)


async def test_each_id_is_answered_with_the_reason_where_nothing_was_done(later: Database) -> None:
    assert await trigger(later, job_ids=[99, 5, 3, 2], kind="a") == {
        2: TRIGGERED,
        3: (False, "scheduled", "scheduled", "it does not match"),
        5: (False, "pending", "pending", "it is pending"),
        99: (False, None, None, "there is no job 99"),
    }


async def test_a_job_that_is_edited_meanwhile_is_judged_as_it_is_then(fresh_database: Database) -> None:
    await enqueue_many(fresh_database, [{"kind": "a", "delay": 3600}] * 2)
    answers = await meet(
        fresh_database,
        lambda first: first.execute("select leasehold.edit_job(1, queue => 'other')"),
        lambda connection: trigger(connection, queue="default"),
    )
    assert answers == {1: (False, "scheduled", "scheduled", "it does not match"), 2: TRIGGERED}
