from __future__ import annotations

import json

import pytest

from leasehold.database import Caller, Database, Row
from leasehold.errors import BadInput, LeaseLost
from tests.support.sql_chains import broken_chains, edges, enqueue_blocked
from tests.support.sql_guards import LOSSES, lost_job
from tests.support.sql_jobs import enqueue, job, snapshot, state
from tests.support.sql_waits import rolled_back
from tests.support.sql_worker import SqlWorker


async def complete(
    caller: Caller, worker: SqlWorker, held: Row, output: object = None, continuation: object = None
) -> object:
    encoded = [None if value is None else json.dumps(value) for value in (output, continuation)]
    return await caller.call_value("complete_job", held["job_id"], held["attempt"], worker.incarnation, *encoded)


async def test_output_and_the_callers_own_writes_commit_together(fresh_database: Database) -> None:
    database, worker = fresh_database, SqlWorker(fresh_database)
    await database.execute("create table public.effect (job_id bigint)")
    await enqueue(database)
    joined = await enqueue_blocked(database, [1])
    held = await worker.claim_one()
    async with rolled_back(database) as transaction:
        await transaction.execute("insert into public.effect values (1)")
        assert await complete(transaction, worker, held, "undone") == []
    assert (await state(database, 1), await database.fetch("select from public.effect")) == ("claimed", [])
    async with database.transaction() as transaction:
        await transaction.execute("insert into public.effect values (1)")
        assert await complete(transaction, worker, held, {"n": 1}) == []
    assert (await job(database, 1))["output"] == '{"n": 1}'
    assert len(await database.fetch("select from public.effect")) == 1
    assert (await state(database, joined), await edges(database, joined)) == ("pending", [(1, True, {"n": 1})])


async def test_it_returns_the_new_jobs_the_next_one_last(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    plan = {"jobs": [{"kind": "part"}] * 2, "next": {"kind": "join", "blockers": [{"position": 1}, {"position": 2}]}}
    assert await complete(database, worker, await worker.claim_one(), None, plan) == [2, 3, 4]
    assert await state(database, 4) == "blocked"


async def test_a_former_owners_transaction_fails_as_a_whole(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    async def enqueue_and_complete(lost: Row) -> None:
        async with database.transaction() as transaction:
            await enqueue(transaction)
            await complete(transaction, worker, lost, "late", {"next": {"kind": "b"}})

    for loss in LOSSES:
        lost = await lost_job(database, worker, loss)
        before = await snapshot(database)
        with subtests.test(loss.name):
            with pytest.raises(LeaseLost, match="attempt 1 does not hold job 1 any more"):
                await enqueue_and_complete(lost)
            assert await snapshot(database) == before


async def test_a_second_completion_fails_because_its_writes_would_count_twice(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database)
    held = await worker.claim_one()
    await complete(database, worker, held, "first")
    before = await snapshot(database)
    for _ in range(2):
        with pytest.raises(LeaseLost):
            await complete(database, worker, held, "second", {"next": {"kind": "b"}})
    assert await snapshot(database) == before


async def test_a_bad_continuation_is_refused_and_the_job_stays_held(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    held = await worker.claim_one()
    before = await snapshot(database)
    refused: dict[str, object] = {"must be a JSON object, not string": "x", "kind is missing": {"next": {}}}
    for complaint, bad in refused.items():
        with pytest.raises(BadInput, match=complaint):
            await complete(database, worker, held, None, bad)
    assert await snapshot(database) == before


async def test_several_in_one_transaction_unblock_their_common_dependent_once(
    database: Database, worker: SqlWorker
) -> None:
    for _ in range(3):
        await enqueue(database)
    joined = await enqueue_blocked(database, [1, 2, 3], key="k")
    held = await worker.claim()
    async with database.transaction() as transaction:
        for row in held:
            await complete(transaction, worker, row, row["job_id"])
    assert await edges(database, joined) == [(n, True, n) for n in (1, 2, 3)]
    assert await state(database, joined) == "pending"
    assert await broken_chains(database, is_swept=True) == []


async def test_nulls_hold_nothing(database: Database) -> None:
    with pytest.raises(LeaseLost):
        await database.call("complete_job", None, None, None)
