from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many, pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_work import measured


async def test_the_oldest_job_that_might_run_is_found_behind_whatever_kind_group_and_priority(
    database: Database,
) -> None:
    async with database.reserve("clocked") as connection:
        assert await connection.call("list_oldest_ready") == []
        for at, job in [
            ("11:00", {"kind": "b", "queue": "q", "priority": -5}),
            ("11:10", {"kind": "a", "queue": "q", "priority": 9}),
            ("11:20", {"kind": "a", "queue": "r", "key_group": "g"}),
            ("11:30", {"kind": "a", "queue": "r"}),
            ("10:00", {"kind": "a", "queue": "q", "delay": 36000}),
        ]:
            await freeze(connection, f"2026-03-01 {at}Z")
            await enqueue_many(connection, [job])
        await freeze(connection, "2026-03-01 12:00Z")
        rows = await connection.call("list_oldest_ready")
    assert [(row["queue"], row["waits_for"]) for row in rows] == [("q", 3600.0), ("r", 2400.0)]


async def test_it_costs_a_look_into_the_index_for_each_kind_and_priority(fresh_database: Database) -> None:
    for kind in ("a", "b"):
        for priority in (0, 5):
            await pile_up(fresh_database, 1000, kind, priority=priority)
    async with fresh_database.reserve("measured") as connection:
        await connection.execute("begin")
        async with measured(connection) as work:
            await connection.call("list_oldest_ready")
        await connection.execute("rollback")
    assert work.seq_scans == 0
    assert work.entries <= 20
