from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import planned, schedule
from tests.support.sql_waits import freeze


async def test_ticks_count_from_then_on(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await planned(connection)
        await connection.call("disable_schedule", "s")
        await freeze(connection, "2030-05-01 00:00Z")
        assert await connection.call_value("enable_schedule", "s") is True
        row = await schedule(connection)
        assert (row["next_run_at"], row["planned_revision"]) == (None, None)
        assert row["planned_from"].month == 5
        assert await connection.call_value("enable_schedule", "s") is False
        assert await schedule(connection) == row
