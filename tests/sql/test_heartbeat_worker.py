from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


async def test_a_heartbeat_says_what_the_worker_does(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    (before,) = await database.fetch("select heartbeat_at from leasehold.workers")
    assert await database.call_value("heartbeat_worker", worker.incarnation, 3, "draining", False) is True
    (row,) = await database.fetch("select * from leasehold.workers")
    assert (row["active_jobs"], row["state"], row["listening"]) == (3, "draining", False)
    assert row["heartbeat_at"] > before["heartbeat_at"]


async def test_an_unknown_or_stopped_worker_is_told_so(database: Database, worker: SqlWorker) -> None:
    assert await database.call_value("heartbeat_worker", worker.incarnation, 0, "ready", True) is False
    await worker.register()
    await database.call("stop_worker", worker.incarnation)
    assert await database.call_value("heartbeat_worker", worker.incarnation, 0, "ready", True) is False
    assert (await database.fetch("select state from leasehold.workers"))[0][0] == "stopped"


async def test_a_heartbeat_touches_no_index(fresh_database: Database) -> None:
    async with fresh_database.lane("measured") as lane:
        worker = SqlWorker(lane)
        await worker.register()
        await lane.execute("begin")
        for _ in range(5):
            await lane.call("heartbeat_worker", worker.incarnation, 1, "ready", True)
        counts = await lane.fetch(
            "select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'workers'"
        )
        assert tuple(counts[0]) == (5, 5)
