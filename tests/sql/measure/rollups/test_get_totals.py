from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_books import close, finish


async def test_totals_grow_from_minute_to_minute_and_outlive_the_rollups(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 12:00:10Z", 2, state="failed")
        await close(connection, "2026-03-01 12:01:30Z")
        await finish(connection, "2026-03-01 12:02:10Z", 3, run=100.0)
        await close(connection, "2026-03-01 12:03:30Z")
        await connection.execute("delete from leasehold.rollups")
        (row,) = await connection.call("get_totals")
    assert (row["queue"], row["completed"], row["failed"], row["run_seconds"]) == ("q", 3, 2, 302.0)
    assert (row["since"].minute, row["last_completed_at"].minute) == (0, 2)
