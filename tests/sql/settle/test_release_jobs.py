from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, events, job
from tests.support.sql_waits import heard
from tests.support.sql_worker import SqlWorker


async def test_a_released_job_is_pending_again_and_nobody_holds_it(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    before = await job(database, 1)
    assert await worker.release(await worker.claim()) == {}
    after = await job(database, 1)
    assert {c for c, _ in before.items() if before[c] != after[c]} == {"attempt", "spared_attempts"}
    assert await worker.held() == set()


async def test_it_stays_in_the_timeline(database: Database, worker: SqlWorker) -> None:
    await worker.release(await worker.given())
    assert await events(database, 1) == [("created", 0), ("claimed", 1), ("released", 1)]


async def test_idle_workers_are_woken_for_it(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a", "queue": "q"}])
    idle = SqlWorker(database, "idle")
    await idle.register()
    await idle.claim()
    assert await heard(database, lambda: worker.release(claimed)) == ["wake:q"]
