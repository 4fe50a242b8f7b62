from __future__ import annotations

import trio

from leasehold.database import Database
from tests.support.sql_chains import continued
from tests.support.sql_jobs import enqueue, job
from tests.support.sql_waits import open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker


async def test_a_locked_job_is_not_edited_before_the_transaction_ends(database: Database) -> None:
    job_id = await enqueue(database)

    async def edit() -> None:
        async with database.reserve("second") as connection:
            await connection.call("edit_job", job_id, priority=5, timeout=None)

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        [locked] = await first.call("lock_job", job_id)
        assert (locked["id"], locked["state"], locked["priority"]) == (job_id, "pending", 0)
        nursery.start_soon(edit)
        await until_waiting(database, "second")
        assert [row["priority"] for row in await first.call("lock_job", job_id)] == [0]
        await first.execute("commit")
    assert (await job(database, job_id))["priority"] == 5


async def test_a_claim_goes_round_a_locked_job(database: Database, worker: SqlWorker) -> None:
    locked, free = await enqueue(database), await enqueue(database)
    async with open_transaction(database, "first") as first:
        await first.call("lock_job", locked)
        assert [each["job_id"] for each in await worker.claim()] == [free]
        await first.execute("commit")


async def test_what_is_over_is_answered_as_it_was_and_what_is_not_there_is_nothing(
    database: Database, worker: SqlWorker
) -> None:
    first, second = await continued(database, worker, "pay", "pack")
    rows = [await database.call("lock_job", each) for each in (first, second, 99)]
    assert [[row["state"] for row in found] for found in rows] == [["completed"], ["pending"], []]
