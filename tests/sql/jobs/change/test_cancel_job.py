from __future__ import annotations

import json
from datetime import timedelta
from functools import partial

import pytest
import trio

from leasehold.database import Database, Row
from leasehold.errors import RowLocked, UnknownJob, WrongState
from tests.support.sql_chains import ended, enqueue_blocked
from tests.support.sql_holders import HOLDS, pid_of, row_held
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, states
from tests.support.sql_waits import heard, meet, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE

OPEN_STATES = ("pending", "scheduled", "waiting", "blocked", "claimed", "running")


async def job_in(database: Database, worker: SqlWorker, state: str) -> tuple[int, list[Row]]:
    """A job of key `k` in this state, and what the worker has claimed."""
    if state == "waiting":
        await enqueue(database, key="k")
        return await enqueue(database, key="k"), []
    if state == "blocked":
        part = await enqueue(database, queue="parts", delay=timedelta(hours=1))
        return await enqueue_blocked(database, [part], key="k"), []
    job_id = await enqueue(database, key="k", delay=timedelta(hours=1) if state == "scheduled" else None)
    claimed = await worker.claim() if state in ("claimed", "running") else []
    if state == "running":
        await worker.start(claimed)
    return job_id, claimed


async def test_in_any_open_state_it_is_cancelled_at_once(database: Database, worker: SqlWorker) -> None:
    for state in OPEN_STATES:
        await empty(database)
        job_id, claimed = await job_in(database, worker, state)
        assert await database.call_value("cancel_job", job_id, "not needed") == state
        row = await job(database, job_id)
        assert (row["state"], json.loads(row["error"])) == ("cancelled", {"type": "Cancelled", "message": "not needed"})
        assert row["finished_at"] is not None
        assert (row["worker_id"], row["attempt"]) == (("w1", 1) if claimed else (None, 0))
        assert await worker.complete(claimed) == ({job_id: "cancelled"} if claimed else {})
        assert (await events(database, job_id))[-1][0] == "cancelled"


async def test_without_a_reason_it_was_by_hand(database: Database) -> None:
    await enqueue(database)
    await database.call("cancel_job", 1)
    assert json.loads((await job(database, 1))["error"])["message"] == "cancelled by hand"


async def test_a_running_handler_is_told(database: Database, worker: SqlWorker, subtests: pytest.Subtests) -> None:
    for state in ["claimed", "running"]:
        await empty(database)
        with subtests.test(state=state):
            job_id, _ = await job_in(database, worker, state)
            assert await heard(database, partial(database.call, "cancel_job", job_id)) == [f"lost:{job_id}:1:cancelled"]


async def test_the_rest_of_the_key_goes_on(database: Database, worker: SqlWorker) -> None:
    for state in OPEN_STATES:
        await empty(database)
        job_id, _ = await job_in(database, worker, state)
        last = await enqueue(database, key="k")
        await database.call("cancel_job", job_id)
        found = await states(database)
        del found[job_id]
        besides = {"waiting": ["waiting"], "blocked": ["scheduled"]}
        assert sorted(found.values()) == ["pending", *besides.get(state, [])]
        assert last in found


async def test_a_finished_job_cannot_be_cancelled(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for outcome in ["completed", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(outcome=outcome):
            await ended(database, worker, outcome)
            before = await snapshot(database)
            with pytest.raises(WrongState, match=f"job 1 is {outcome} and cannot be cancelled"):
                await database.call("cancel_job", 1)
            assert await snapshot(database) == before


async def test_a_job_that_is_not_there_cannot_be_cancelled(database: Database) -> None:
    for job_id in [0, -1, 7, 2**63 - 1, None]:
        with pytest.raises(UnknownJob):
            await database.call("cancel_job", job_id)


async def test_of_a_cancel_and_a_completion_that_meet_exactly_one_wins(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 2)
    with pytest.raises(WrongState, match="job 1 is completed and cannot be cancelled"):
        await meet(
            database,
            lambda settler: worker.over(settler).complete(claimed[:1]),
            lambda second: insist(lambda: second.call("cancel_job", 1)),
        )

    async with open_transaction(database, "cancel") as cancelling:
        await cancelling.call("cancel_job", 2)
        assert await worker.complete(claimed[1:]) == {2: "busy"}
        await cancelling.execute("commit")
    assert await worker.complete(claimed[1:]) == {2: "cancelled"}


async def test_a_cancel_that_meets_a_claim_cancels_the_claimed_job(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    seen: list[object] = []

    async def cancel() -> None:
        async with database.reserve("cancel") as connection:
            seen.append(await insist(lambda: connection.call_value("cancel_job", 1)))

    async with trio.open_nursery() as nursery, open_transaction(database, "claimer") as claimer:
        claimed = await worker.over(claimer).claim()
        nursery.start_soon(cancel)
        await until_waiting(database, "cancel")
        await claimer.execute("commit")
    assert seen == ["claimed"]
    assert await worker.complete(claimed) == {1: "cancelled"}


async def test_cancelling_a_waiting_or_future_job_leaves_its_key_unlocked(database: Database) -> None:
    await enqueue_many(
        database, [{"kind": "a", "key": "k"}, {"kind": "a", "key": "k"}, {"kind": "a", "key": "k", "delay": 9}]
    )
    async with open_transaction(database, "other") as other:
        await other.call("cancel_job", 2)
        await other.call("cancel_job", 3)
        assert (await database.fetch("select pg_try_advisory_xact_lock(leasehold.key_lock('k'))"))[0][0]


async def test_who_holds_the_row_is_named_instead_of_waited_for(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    async with row_held(database, worker, claimed[0], HOLDS["lease asserted"]) as holder:
        before = await snapshot(database)
        told = rf"^job 1 cannot be cancelled now: session {await pid_of(holder)} .*try again"
        with trio.fail_after(PATIENCE), pytest.raises(RowLocked, match=told):
            await database.call("cancel_job", 1)
        assert await snapshot(database) == before
        await holder.execute("commit")
    assert await database.call_value("cancel_job", 1) == "claimed"


async def test_where_the_row_is_free_it_was_another_lock(database: Database) -> None:
    await enqueue(database, key="k")
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        with pytest.raises(RowLocked, match=r"^job 1 cannot be cancelled now: another session holds a lock that this"):
            await database.call("cancel_job", 1)
