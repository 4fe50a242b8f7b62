from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import NOON, create, create_at, set_plan


async def test_it_is_the_time_to_the_earliest_tick(database: Database) -> None:
    async with database.lane("clocked") as lane:
        assert await lane.call_value("next_tick_in") is None
        soon = await create_at(lane, NOON, "soon")
        assert await lane.call_value("next_tick_in") == 0, "somebody has to plan it"
        await set_plan(lane, soon, "2030-01-01 12:00:01.5Z")
        await set_plan(lane, await create(lane, "late"), "2030-01-02 12:00Z")
        await set_plan(lane, await create(lane, "never"), None)
        assert await lane.call_value("next_tick_in") == 1.5
        assert await lane.call_value("next_tick_in", [soon["id"]]) == 86400
        await lane.call("disable_schedule", "late")
        assert await lane.call_value("next_tick_in", [soon["id"]]) is None


async def test_it_is_below_zero_where_a_tick_is_overdue(database: Database) -> None:
    async with database.lane("clocked") as lane:
        await set_plan(lane, await create_at(lane, NOON), "2030-01-01 11:59Z")
        assert await lane.call_value("next_tick_in") == -60
