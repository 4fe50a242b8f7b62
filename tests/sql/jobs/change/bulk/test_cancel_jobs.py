from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_chains import enqueue_blocked
from tests.support.sql_holders import pid_of, row_held
from tests.support.sql_jobs import changed_in_bulk, enqueue, enqueue_many, job, snapshot, states
from tests.support.sql_waits import be_patient, heard, meet, open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

cancel = partial(changed_in_bulk, function="cancel_jobs")


@pytest.fixture
async def alive(database: Database, worker: SqlWorker) -> Database:
    """1 is running, 2 claimed, 3 pending in another queue, 4 scheduled, 5 scheduled after a failure, 6 and 7 of one
    key, 8 blocked, 9 completed."""
    await enqueue_many(
        database,
        [
            {"kind": "run"},
            {"kind": "claim"},
            {"kind": "a", "queue": "q"},
            {"kind": "a", "delay": 60},
            {"kind": "fail"},
            {"kind": "b", "key": "k"},
            {"kind": "b", "key": "k"},
        ],
    )
    await worker.start(await worker.claim(kinds=["run"]))
    await worker.claim(kinds=["claim"])
    await worker.fail(await worker.claim(kinds=["fail"]), retry_in=[60.0])
    await enqueue_blocked(database, [1])
    await enqueue(database, kind="done")
    await worker.complete(await worker.claim(kinds=["done"]))
    return database


WERE = {
    1: "running",
    2: "claimed",
    3: "pending",
    4: "scheduled",
    5: "scheduled",
    6: "pending",
    7: "waiting",
    8: "blocked",
}


FILTERED: list[tuple[dict[str, Any], list[int]]] = [
    ({}, list(WERE)),
    ({"state": "running"}, [1]),
    ({"state": "blocked"}, [8]),
    ({"key": "k"}, [6, 7]),
]


async def test_all_that_match_are_cancelled_and_no_others(alive: Database) -> None:
    for filters, expected in FILTERED:
        async with open_transaction(alive, "undone") as undone:
            changes = await cancel(undone, **filters)
            assert changes == {job_id: (True, WERE[job_id], "cancelled", None) for job_id in expected}, filters
            after = await states(undone)
            assert [job_id for job_id, state in after.items() if state == "cancelled"] == expected, filters


async def test_ids_are_all_answered_each_with_the_reason_where_nothing_was_done(alive: Database) -> None:
    assert await cancel(alive, job_ids=[3, 4, 9, 99], queue="q") == {
        3: (True, "pending", "cancelled", None),
        4: (False, "scheduled", "scheduled", "it is scheduled and does not match"),
        9: (False, "completed", "completed", "it is completed"),
        99: (False, None, None, "there is no job 99"),
    }


async def test_a_dry_run_answers_the_same_and_changes_and_tells_nothing(alive: Database) -> None:
    before = await snapshot(alive)
    async with listen(alive, "leasehold") as listening:
        would = await cancel(alive, dry_run=True)
        assert await snapshot(alive) == before
        await alive.execute("notify leasehold, 'end'")
        with trio.fail_after(PATIENCE):
            assert await listening.payloads.receive() == "end"
    assert await cancel(alive) == would


async def test_unless_it_is_said_otherwise_it_is_a_dry_run(alive: Database) -> None:
    before = await snapshot(alive)
    assert len(await alive.call("cancel_jobs")) == 8
    assert await snapshot(alive) == before


async def test_handlers_that_run_are_told(alive: Database) -> None:
    async with listen(alive, "leasehold") as listening:
        await cancel(alive, job_ids=[1, 2, 3])
        with trio.fail_after(PATIENCE):
            told = {await listening.payloads.receive() for _ in range(2)}
    assert told == {"lost:1:1:cancelled", "lost:2:1:cancelled"}


async def test_the_reason_stands_in_the_error(alive: Database) -> None:
    await cancel(alive, job_ids=[3], reason="wrong shop")
    assert json.loads((await job(alive, 3))["error"]) == {"type": "Cancelled", "message": "wrong shop"}


async def test_a_key_is_given_on(alive: Database) -> None:
    await cancel(alive, key="k", state="pending")
    assert (await states(alive))[7] == "pending"


async def test_who_waits_for_a_chain_is_told(alive: Database) -> None:
    await alive.execute("insert into leasehold.chain_waiters values (3, now() + interval '1 minute')")
    assert await heard(alive, lambda: cancel(alive, queue="q")) == ["closed:3"]


async def test_a_job_that_is_claimed_meanwhile_is_judged_as_it_is_then(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database)
    await enqueue_many(database, [{"kind": "a"}] * 2)
    answers = await meet(
        database, lambda first: SqlWorker(first).claim(1), lambda connection: cancel(connection, state="pending")
    )
    assert answers == {
        1: (False, "claimed", "claimed", "it is claimed and does not match"),
        2: (True, "pending", "cancelled", None),
    }
    assert await states(database) == {1: "claimed", 2: "cancelled"}


async def test_a_job_whose_row_somebody_holds_is_skipped_with_the_session_named(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 3)
    async with row_held(database, worker, claimed[1]) as holder:
        with trio.fail_after(PATIENCE):
            rows = await database.call("cancel_jobs", kind="a", dry_run=False)
        assert [(row["job_id"], row["changed"]) for row in rows] == [(1, True), (2, False), (3, True)]
        assert rows[1]["reason"].startswith(f"session {await pid_of(holder)} ")
        await holder.execute("commit")
    assert await states(database) == {1: "cancelled", 2: "claimed", 3: "cancelled"}
