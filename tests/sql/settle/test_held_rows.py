"""Settling while other sessions hold rows, keys and blocked jobs: it waits for none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from itertools import product

import pytest
import trio

from leasehold.database import Database, Row
from leasehold.errors import LockTimeout
from tests.support.sql_chains import enqueue_blocked
from tests.support.sql_holders import HOLDS, row_held
from tests.support.sql_jobs import empty, enqueue, enqueue_many, states
from tests.support.sql_waits import be_patient, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

Write = Callable[[SqlWorker, Sequence[Row]], Awaitable[dict[int, str]]]


async def _fail(worker: SqlWorker, jobs: Sequence[Row]) -> dict[int, str]:
    rows = await worker.fail(jobs, discard=[True] * len(jobs))
    return {job_id: row["reason"] for job_id, row in rows.items() if row["outcome"] == "refused"}


async def _continue(worker: SqlWorker, jobs: Sequence[Row]) -> dict[int, str]:
    answers = await worker.continue_with(jobs, [None] * len(jobs))
    return {job_id: reason for job_id, (reason, _) in answers.items() if reason is not None}


WRITES: dict[str, tuple[Write, str]] = {
    "complete": (lambda worker, jobs: worker.complete(jobs), "completed"),
    "continue": (_continue, "completed"),
    "fail": (_fail, "failed"),
    "release": (lambda worker, jobs: worker.release(jobs), "pending"),
    "reschedule": (lambda worker, jobs: worker.reschedule(jobs, [60.0] * len(jobs)), "scheduled"),
    "block": (lambda worker, jobs: worker.block(jobs, [{"delay": 60}] * len(jobs)), "scheduled"),
}


async def test_a_row_that_somebody_holds_is_busy_and_all_others_are_settled(
    database: Database, worker: SqlWorker
) -> None:
    for hold, (write, after) in product(HOLDS.values(), WRITES.values()):
        await empty(database)
        claimed = await worker.given_all([{"kind": "a"}] * 3)
        async with row_held(database, worker, claimed[1], hold) as holder:
            with trio.fail_after(PATIENCE):
                assert await write(worker, claimed) == {2: "busy"}
            now = await states(database)
            assert (now[1], now[3]) == (after, after)
            assert now[2] in ("claimed", "running")
            await holder.execute("commit")
        assert await write(worker, claimed[1:2]) == {}
        assert set((await states(database)).values()) == {after}


async def test_a_key_of_a_held_row_stays_where_it_is(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a", "key": "k"}, {"kind": "a", "key": "k"}, {"kind": "a"}])
    async with row_held(database, worker, claimed[0]):
        assert await worker.complete(claimed) == {1: "busy"}
        assert await states(database) == {1: "claimed", 2: "waiting", 3: "completed"}
    assert await worker.complete(claimed[:1]) == {}
    assert await states(database) == {1: "completed", 2: "pending", 3: "completed"}


async def test_a_unique_key_in_an_open_transaction_is_waited_for_a_moment_only(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    following: dict[str, object] = {"jobs": [{"kind": "b", "unique": {}}]}
    async with open_transaction(database, "user") as user:
        await enqueue_many(user, [{"kind": "b", "unique": {}}])
        with trio.fail_after(PATIENCE), pytest.raises(LockTimeout):
            await worker.continue_with(claimed, [following])
        assert (await states(database))[1] == "claimed"
        await user.execute("rollback")
    (answer,) = (await worker.continue_with(claimed, [following])).values()
    assert answer[0] is None


async def test_a_blocked_job_that_somebody_holds_is_waited_for_a_moment_only(
    database: Database, worker: SqlWorker
) -> None:
    part = await enqueue(database)
    whole = await enqueue_blocked(database, [part])
    claimed = await worker.claim()
    async with open_transaction(database, "person") as person:
        await person.fetch("select from leasehold.jobs where id = $1 for update", whole)
        with trio.fail_after(PATIENCE), pytest.raises(LockTimeout):
            await worker.complete(claimed)
    assert await worker.complete(claimed) == {}
    assert (await states(database))[whole] == "pending"


async def test_a_completion_in_a_transaction_of_ones_own_waits_for_the_row(
    database: Database, worker: SqlWorker
) -> None:
    (claimed,) = await worker.given()
    made: list[object] = []

    async def complete() -> None:
        async with database.reserve("own") as own:
            made.append(await own.call_value("complete_job", 1, claimed["attempt"], worker.incarnation))

    async with trio.open_nursery() as nursery, row_held(database, worker, claimed) as holder:
        nursery.start_soon(complete)
        await until_waiting(database, "own")
        await holder.execute("commit")
    assert made == [[]]
    assert await states(database) == {1: "completed"}


async def test_a_cancellation_of_many_and_a_completion_that_unblocks_do_not_wait_for_each_other(
    fresh_database: Database,
) -> None:
    """The blocked job has the lower id: whoever locks by id alone has it before the completion comes for it."""
    database, worker = fresh_database, SqlWorker(fresh_database)
    await be_patient(database, "cancel_jobs")
    whole = await enqueue(database, delay=timedelta(hours=1))
    part = await enqueue(database)
    claimed = await worker.claim()
    await database.execute(f"update leasehold.jobs set state = 'blocked' where id = {whole}")
    await database.execute(f"insert into leasehold.job_blockers (job_id, slot, chain_id) values ({whole}, 1, {part})")
    changes: list[bool] = []

    async def cancel() -> None:
        async with database.reserve("cancel") as reserved:
            rows = await reserved.call("cancel_jobs", job_ids=[whole, part], dry_run=False)
            changes.extend(row["changed"] for row in rows)

    async with open_transaction(database, "person") as person, trio.open_nursery() as nursery:
        await person.fetch("select from leasehold.jobs where id = $1 for update", whole)
        nursery.start_soon(cancel)
        await until_waiting(database, "cancel")
        assert await worker.complete(claimed) == {part: "busy"}
        await person.execute("commit")
    assert changes == [True, True]
    assert await worker.complete(claimed) == {part: "cancelled"}
