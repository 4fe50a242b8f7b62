from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import NOON, create, create_at, set_plan


async def test_it_is_the_time_to_the_earliest_tick(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        assert await connection.call_value("next_tick_in") is None
        soon = await create_at(connection, NOON, "soon")
        assert await connection.call_value("next_tick_in") == 0, "somebody has to plan it"
        await set_plan(connection, soon, "2030-01-01 12:00:01.5Z")
        await set_plan(connection, await create(connection, "late"), "2030-01-02 12:00Z")
        await set_plan(connection, await create(connection, "never"), None)
        assert await connection.call_value("next_tick_in") == 1.5
        assert await connection.call_value("next_tick_in", [soon["id"]]) == 86400
        await connection.call("disable_schedule", "late")
        assert await connection.call_value("next_tick_in", [soon["id"]]) is None


async def test_it_is_below_zero_where_a_tick_is_overdue(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await set_plan(connection, await create_at(connection, NOON), "2030-01-01 11:59Z")
        assert await connection.call_value("next_tick_in") == -60
