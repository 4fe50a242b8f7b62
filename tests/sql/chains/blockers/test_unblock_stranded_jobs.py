from __future__ import annotations

import trio

from leasehold.database import Database
from tests.sql.chains.blockers.test_unblock_jobs import strand
from tests.support.sql_chains import broken_chains, enqueue_blocked, sweep
from tests.support.sql_jobs import enqueue, job, snapshot, state
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


async def look(database: Database, after_id: int | None = None, batch: int = 1000) -> tuple[int, int | None]:
    run_at = None if after_id is None else (await job(database, after_id))["run_at"]
    (row,) = await database.call("unblock_stranded_jobs", run_at, after_id, batch)
    return row["found"], row["last_id"]


async def test_with_nothing_blocked_there_is_nothing_to_find(database: Database) -> None:
    await enqueue(database)
    assert await look(database) == (0, None)


async def test_a_stranded_job_is_found_and_its_key_given_to_it(database: Database, worker: SqlWorker) -> None:
    plain, keyed = await strand(database, worker), await strand(database, worker, key="k")
    assert await look(database) == (2, None)
    assert (await state(database, plain), await state(database, keyed)) == ("pending", "pending")
    assert await look(database) == (0, None)
    assert await broken_chains(database, is_swept=True) == []


async def test_jobs_that_are_truly_blocked_stay(database: Database) -> None:
    await enqueue(database)
    await enqueue_blocked(database, [1])
    before = await snapshot(database)
    assert await look(database) == (0, None)
    assert await snapshot(database) == before


async def test_it_goes_round_in_batches(database: Database, worker: SqlWorker) -> None:
    waits = await enqueue(database)
    first = await enqueue_blocked(database, [waits])
    second = await enqueue_blocked(database, [waits])
    stranded = await strand(database, worker)
    assert await look(database, None, 1) == (0, first)
    assert await look(database, first, 1) == (0, second)
    assert await look(database, second, 1) == (1, stranded)
    assert await look(database, stranded, 1) == (0, None)
    assert await sweep(database) == 0


async def test_a_locked_job_is_left_for_the_next_round(database: Database, worker: SqlWorker) -> None:
    stranded = await strand(database, worker)
    async with open_transaction(database, "user") as user:
        await user.fetch("select from leasehold.jobs where id = $1 for update", stranded)
        with trio.fail_after(PATIENCE):
            await look(database)
        assert await state(database, stranded) == "blocked"
    await look(database)
    assert await state(database, stranded) == "pending"
