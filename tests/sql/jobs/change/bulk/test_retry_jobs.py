from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_jobs import changed_in_bulk, enqueue, enqueue_many, events, snapshot, state, states
from tests.support.sql_unique import enqueue_one
from tests.support.sql_waits import meet, open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

retry = partial(changed_in_bulk, function="retry_jobs")


RETRIED = (True, "failed", "pending", None)
REOPENED = (True, "cancelled", "pending", None)


async def fail(worker: SqlWorker, kind: str, error: str = "ValueError") -> None:
    claimed = await worker.claim(1, kinds=[kind])
    await worker.fail(claimed, {"type": error, "message": "boom", "traceback": ""}, discard=[True])


@pytest.fixture
async def dead(database: Database, worker: SqlWorker) -> Database:
    """1 failed with a ValueError, 2 with a TimeoutError in another queue, 3 of another kind and with a key, 4 is
    cancelled, 5 completed, 6 pending."""
    await enqueue_many(
        database,
        [
            {"kind": "a"},
            {"kind": "a", "queue": "q"},
            {"kind": "b", "key": "k"},
            {"kind": "c"},
            {"kind": "d"},
            {"kind": "e"},
        ],
    )
    await fail(worker, "a")
    await fail(worker, "a", "TimeoutError")
    await fail(worker, "b")
    await database.call("cancel_job", 4)
    await worker.complete(await worker.claim(kinds=["d"]))
    return database


FILTERED: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [1, 2, 3]),
    ({"state": "cancelled"}, [4]),
    ({"state": None}, [1, 2, 3, 4]),
    ({"kind": "a", "error_type": "ValueError"}, [1]),
]


async def test_all_that_match_are_retried_and_no_others(dead: Database) -> None:
    before = await states(dead)
    for filters, expected in FILTERED:
        async with open_transaction(dead, "undone") as undone:
            changes = await retry(undone, **filters)
            assert changes == {job_id: REOPENED if job_id == 4 else RETRIED for job_id in expected}, filters
            assert await states(undone) == {**before, **dict.fromkeys(expected, "pending")}, filters


async def test_ids_are_all_answered_each_with_the_reason_where_nothing_was_done(dead: Database) -> None:
    assert await retry(dead, job_ids=[1, 4, 5, 6, 99], state=None) == {
        1: RETRIED,
        4: REOPENED,
        5: (False, "completed", "completed", "it is completed"),
        6: (False, "pending", "pending", "it is pending and needs no retry"),
        99: (False, None, None, "there is no job 99"),
    }


async def test_an_id_that_does_not_match_is_told_so(dead: Database) -> None:
    assert await retry(dead, job_ids=[1, 4], kind="c", state=None) == {
        1: (False, "failed", "failed", "it is failed and does not match"),
        4: REOPENED,
    }


async def test_a_dry_run_answers_the_same_and_changes_nothing(dead: Database, worker: SqlWorker) -> None:
    await worker.register()
    await dead.execute("update leasehold.workers set idle = true")
    before = await snapshot(dead)
    async with listen(dead, "leasehold") as listening:
        would = await retry(dead, dry_run=True, state=None, job_ids=[1, 2, 3, 4, 5])
        assert await snapshot(dead) == before
        assert await retry(dead, state=None, job_ids=[1, 2, 3, 4, 5]) == would
        with trio.fail_after(PATIENCE):
            assert await listening.payloads.receive() in ("wake:default", "wake:q")
    assert await states(dead) != {}


async def test_unless_it_is_said_otherwise_it_is_a_dry_run(dead: Database) -> None:
    before = await snapshot(dead)
    assert len(await dead.call("retry_jobs")) == 3
    assert await snapshot(dead) == before


async def test_the_attempts_go_on(dead: Database, worker: SqlWorker) -> None:
    await retry(dead, kind="b")
    assert (await worker.claim(kinds=["b"]))[0]["attempt"] == 2
    told = [("claimed", 1), ("started", 1), ("failed", 1), ("retried", 1), ("promoted", 1), ("claimed", 2)]
    assert await events(dead, 3) == [("created", 0), *told]


async def test_jobs_of_one_key_stand_in_line(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}] * 3)
    await database.execute("select leasehold.cancel_job(id) from leasehold.jobs")
    changed = await retry(database, state="cancelled")
    assert sorted(str(now) for _, _, now, _ in changed.values()) == ["pending", "waiting", "waiting"]


async def test_of_jobs_with_one_unique_key_only_one_is_retried(database: Database, worker: SqlWorker) -> None:
    for _ in range(3):
        await enqueue_one(database)
        await fail(worker, "a")
    first, second, third = sorted(await states(database))
    reason = (False, "failed", "failed", f"job {third} has its unique key now")
    assert await retry(database) == {first: reason, second: reason, third: RETRIED}
    assert await retry(database) == {first: reason, second: reason}


async def test_of_two_at_once_each_job_is_retried_by_one(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 100, 100)
    await worker.fail(claimed, discard=[True] * 100)
    answers = await meet(database, lambda first: retry(first, batch=40), retry)
    changed = [job_id for job_id, (is_changed, *_) in answers.items() if is_changed]
    assert len(changed) == 60
    assert {reason for changed, *_, reason in answers.values() if not changed} == {"it is pending and needs no retry"}
    assert set((await states(database)).values()) == {"pending"}


async def test_thousands_are_retried_in_pages(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 3000)
    await database.execute("select leasehold.cancel_job(id) from leasehold.jobs")
    after, count = 0, 0
    while page := await retry(database, state="cancelled", batch=1000, after_id=after):
        after, count = max(page), count + len(page)
    assert count == 3000
    assert await state(database, 3000) == "pending"


async def test_a_job_that_is_enqueued_meanwhile_is_not_harmed(dead: Database) -> None:
    async with open_transaction(dead, "one") as one:
        await retry(one)
        assert await enqueue(dead, kind="new")
        await one.execute("commit")
    assert list((await states(dead)).values()).count("pending") == 5
