from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


async def test_a_stopped_worker_is_shown_as_such(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await worker.claim()
    await SqlWorker(database, "other").register()
    await database.call("stop_worker", worker.incarnation)
    rows = await database.fetch(
        "select worker_id, state, idle, active_jobs, stopped_at is null from leasehold.workers order by worker_id"
    )
    assert [tuple(row) for row in rows] == [("other", "ready", False, 0, True), ("w1", "stopped", False, 0, False)]


async def test_an_unknown_worker_is_no_error(database: Database, worker: SqlWorker) -> None:
    await database.call("stop_worker", worker.incarnation)
