from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


async def test_claimed_and_running_jobs_are_held_and_no_others(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 6, 5)
    await worker.start(claimed[:1])
    await worker.complete(claimed[2:3])
    await worker.fail(claimed[3:4])
    await worker.release(claimed[4:5])
    assert await worker.held() == {(1, 1), (2, 1)}


async def test_what_others_hold_is_left_out(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 2, 1)
    await SqlWorker(database, "w1").claim(1)
    assert await worker.held() == {(1, 1)}
    assert await SqlWorker(database).held() == set()
