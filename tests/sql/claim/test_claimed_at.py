from __future__ import annotations

import trio

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, job
from tests.support.sql_waits import open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker


async def test_a_claim_that_waited_is_not_older_than_the_end_of_the_job_before(database: Database) -> None:
    first, second = [await enqueue(database, key="k") for _ in range(2)]
    holder = SqlWorker(database)
    held = await holder.claim()
    assert [row["job_id"] for row in held] == [first]
    await enqueue(database)  # so that the claim has a lane to look at
    claimed: list[int] = []

    async def claim() -> None:
        async with database.reserve("slow") as slow:
            claimed.extend(row["job_id"] for row in await SqlWorker(slow).claim())

    async with trio.open_nursery() as nursery, open_transaction(database, "locker") as locker:
        await locker.execute("lock table leasehold.queues in access exclusive mode")
        nursery.start_soon(claim)
        await until_waiting(database, "slow")
        await holder.complete(held)
        await locker.execute("rollback")
    assert second in claimed
    rows = await database.fetch("select finished_at from leasehold.finished_jobs where id = $1", first)
    assert (await job(database, second))["claimed_at"] >= rows[0][0]
