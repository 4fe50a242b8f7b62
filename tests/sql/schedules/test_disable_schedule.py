from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import fire, fire_of, planned, schedule


async def test_a_tick_that_is_due_does_not_fire_any_more(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        before = await planned(connection)
        assert await connection.call_value("disable_schedule", "s", "ada") is True
        assert await connection.call_value("disable_schedule", "s", "bob") is False
        assert (await schedule(connection))["updated_by"] == "ada"
        assert await fire(connection, fire_of(before, None)) == []
        assert await connection.call("list_due_schedules") == []
        assert await connection.call_value("next_tick_in") is None
