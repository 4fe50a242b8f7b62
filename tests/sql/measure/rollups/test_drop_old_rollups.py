from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_books import books, close, finish, totals
from tests.support.sql_waits import freeze, open_transaction


async def test_minutes_of_two_days_ago_become_hours_and_old_hours_are_forgotten(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for at in ("12:05", "12:06", "13:05"):
            await finish(connection, f"2026-03-01 {at}Z", run=0.0)
        await finish(connection, "2026-03-01 12:06Z", queue="r", run=0.0)
        await close(connection, "2026-03-01 14:00:05Z")
        before = tuple(await totals(database))
        await freeze(connection, "2026-03-03 13:30Z")
        assert await connection.call_value("drop_old_rollups", 10) == 2
        merged = [("12:00", "q", 3600, 2, 2), ("12:00", "r", 3600, 1, 1), ("13:05", "q", 60, 1, 1)]
        assert await books(database, "seconds", "completed", "waits[1]") == merged
        assert await connection.call_value("drop_old_rollups", 10) == 0
        assert await books(database, "seconds", "completed", "waits[1]") == merged
        await freeze(connection, "2026-03-11 13:30Z")
        assert await connection.call_value("drop_old_rollups", 10) == 1
        assert await books(database, "seconds") == [("13:00", "q", 3600)]
    assert tuple(await totals(database)) == before


async def test_of_two_at_once_one_does_it(database: Database) -> None:
    async with open_transaction(database, "first") as first:
        assert await first.call_value("drop_old_rollups", 10) == 0
        assert await database.call_value("drop_old_rollups", 10) is None
