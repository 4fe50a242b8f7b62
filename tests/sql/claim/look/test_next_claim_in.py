from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker


async def test_with_nothing_there_nothing_is_expected(database: Database) -> None:
    assert await database.call_value("next_claim_in") is None


async def test_a_pending_job_is_worth_a_claim_at_once_and_a_claimed_one_is_not(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database)
    assert await database.call_value("next_claim_in") == 0.0
    await worker.claim()
    assert await database.call_value("next_claim_in") is None


async def test_a_job_that_may_have_been_left_waiting_is_worth_one(database: Database) -> None:
    await enqueue(database, key="k")
    await database.execute("update leasehold.jobs set state = 'waiting'")
    assert await database.call_value("next_claim_in") == 0.0


async def test_else_it_is_when_a_scheduled_job_comes_due(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue_many(connection, [{"kind": "a", "delay": 60}])
        await freeze(connection, "2026-03-01 12:00:20Z")
        assert await connection.call_value("next_claim_in") == 40.0
