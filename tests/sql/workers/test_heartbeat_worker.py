from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_fleet import worker_row
from tests.support.sql_worker import SqlWorker


async def test_a_heartbeat_says_what_the_worker_does(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    (before,) = await database.fetch("select heartbeat_at from leasehold.workers")
    assert await database.call_value("heartbeat_worker", worker.incarnation, 3, "draining", False) is True
    (row,) = await database.fetch("select * from leasehold.workers")
    assert (row["active_jobs"], row["state"], row["listening"]) == (3, "draining", False)
    assert row["heartbeat_at"] > before["heartbeat_at"]


async def test_a_heartbeat_says_how_many_handlers_run_on_without_their_jobs(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    beat = ("heartbeat_worker", worker.incarnation, 2, "ready", True)
    for said, shown in ((2, 2), (None, 2), (1, 1), (0, 0)):
        await database.call(*beat, stray_handlers=said)
        assert (await worker_row(database, "w1"))["stray_handlers"] == shown


async def test_a_heartbeat_tells_of_wake_ups_that_got_lost_and_the_fleet_adds_them_up(database: Database) -> None:
    for name, lost in (("a", 2), ("b", 3)):
        worker = SqlWorker(database, name)
        await worker.register()
        await database.call("heartbeat_worker", worker.incarnation, 0, "ready", True, lost_wake_ups=lost)
        await database.call("heartbeat_worker", worker.incarnation, 0, "ready", True)
    assert [row["lost_wake_ups"] for row in await database.call("list_workers")] == [2, 3]
    [fleet] = await database.call("measure_fleet")
    assert fleet["lost_wake_ups"] == 5


async def test_an_unknown_or_stopped_worker_is_told_so(database: Database, worker: SqlWorker) -> None:
    assert await database.call_value("heartbeat_worker", worker.incarnation, 0, "ready", True) is False
    await worker.register()
    await database.call("stop_worker", worker.incarnation)
    assert await database.call_value("heartbeat_worker", worker.incarnation, 0, "ready", True) is False
    assert (await database.fetch("select state from leasehold.workers"))[0][0] == "stopped"


async def test_what_a_worker_says_of_its_memory_and_why_it_holds_back_is_shown(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register(slots=3)
    beat = ("heartbeat_worker", worker.incarnation, 0, "ready", True)
    await database.call(*beat, 5, 0.87, 0.5, "memory 87 % of 2.0 GiB (limit 85 %)", 10.0)
    row = await worker_row(database, "w1")
    assert (row["slots"], row["memory"], row["cpu"]) == (5, pytest.approx(0.87), 0.5)
    assert row["backoff"] == "memory 87 % of 2.0 GiB (limit 85 %)"
    assert (row["backoff_until"] - row["heartbeat_at"]).total_seconds() == 10
    await database.call(*beat)
    row = await worker_row(database, "w1")
    assert (row["slots"], row["memory"], row["cpu"], row["backoff"], row["backoff_until"]) == (
        5,
        None,
        None,
        None,
        None,
    )


async def test_heartbeats_of_a_whole_fleet_are_heap_only(fresh_database: Database) -> None:
    """Also of a worker with so many kinds that they are kept out of line."""
    async with fresh_database.reserve("measured") as connection:
        fleet = [SqlWorker(connection, f"w{number}") for number in range(40)]
        for number, worker in enumerate(fleet):
            await worker.register(kinds=[f"some_kind_of_job_{kind}" for kind in range(number * 20)])
        for _ in range(10):
            for worker in fleet:
                await connection.call("heartbeat_worker", worker.incarnation, 1, "ready", True, 3, 0.5, 0.5)
        await connection.fetch("select pg_stat_force_next_flush()")
        counts = await connection.fetch(
            "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'workers'"
        )
        assert tuple(counts[0]) == (400, 400)
