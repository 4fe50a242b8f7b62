from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import ended, enqueue_blocked
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def waiting_for(database: Database, chain_id: int, *page: int) -> list[int]:
    return [row["id"] for row in await database.call("list_blocked_jobs", chain_id, *page)]


async def test_it_lists_the_jobs_that_wait_once_each_and_page_by_page(database: Database) -> None:
    part = await enqueue(database)
    waiting = [await enqueue_blocked(database, [part, part]) for _ in range(5)]
    first = await waiting_for(database, part, 0, 3)
    assert first + await waiting_for(database, part, first[-1], 3) == waiting


async def test_jobs_wait_for_a_failed_chain_still_and_for_a_completed_one_no_more(
    database: Database, worker: SqlWorker
) -> None:
    part = await enqueue(database, "part")
    whole = await enqueue_blocked(database, [part])
    [job] = await worker.claim(kinds=["part"])
    await worker.fail([job], discard=[True])
    assert await waiting_for(database, part) == [whole]
    await database.call("retry_job", part)
    await worker.complete(await worker.claim(kinds=["part"]))
    assert await waiting_for(database, part) == []


async def test_a_cancelled_job_waits_for_nothing(database: Database, worker: SqlWorker) -> None:
    part = await ended(database, worker, "failed")
    await database.call("cancel_job", await enqueue_blocked(database, [part]))
    assert await waiting_for(database, part) == []
