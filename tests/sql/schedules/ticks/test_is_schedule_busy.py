from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import create
from tests.support.sql_worker import SqlWorker


async def busy(database: Database, schedule_id: int = 1) -> bool:
    return bool(await database.call_value("is_schedule_busy", schedule_id))


async def test_it_is_until_its_jobs_have_ended(database: Database, worker: SqlWorker) -> None:
    await create(database)
    assert not await busy(database)
    await database.call("trigger_schedule", "s")
    assert await busy(database)
    claimed = await worker.claim()
    assert await busy(database)
    await worker.complete(claimed)
    assert not await busy(database)


async def test_it_is_until_the_chain_that_a_job_began_has_ended(database: Database, worker: SqlWorker) -> None:
    await create(database)
    await database.call("trigger_schedule", "s")
    await worker.continue_with(await worker.claim(), [{"next": {"kind": "next"}}])
    assert await busy(database)
    await worker.complete(await worker.claim())
    assert not await busy(database)


async def test_jobs_of_others_do_not_count(database: Database) -> None:
    await create(database, "a")
    await create(database, "b")
    await database.call("enqueue_job", "echo")
    await database.call("trigger_schedule", "b")
    assert not await busy(database, 1)
    assert await busy(database, 2)
