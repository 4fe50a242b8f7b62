from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze


async def test_each_kind_of_each_queue_is_told_once_with_the_time_of_its_first_job(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for minute, job in [
            (10, {"kind": "a", "queue": "q", "priority": 9}),
            (20, {"kind": "a", "queue": "q"}),
            (0, {"kind": "a", "queue": "q", "key_group": "g"}),
            (30, {"kind": "b", "queue": "q"}),
            (40, {"kind": "a", "queue": "r"}),
            (0, {"kind": "later", "queue": "r", "delay": 60}),
        ]:
            await freeze(connection, f"2026-03-01 12:{minute:02}Z")
            await enqueue_many(connection, [job])
        rows = await connection.call("list_ready_kinds")
    found = {(row["queue"], row["kind"]): row["oldest_run_at"].minute for row in rows}
    assert (found, len(rows)) == ({("q", "a"): 0, ("q", "b"): 30, ("r", "a"): 40}, 3)
