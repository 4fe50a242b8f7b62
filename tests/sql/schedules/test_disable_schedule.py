from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownSchedule
from tests.support.sql_schedules import fire, fire_of, planned, schedule


async def test_a_tick_that_is_due_does_not_fire_any_more(database: Database) -> None:
    async with database.lane("clocked") as lane:
        before = await planned(lane)
        assert await lane.call_value("disable_schedule", "s", "ada") is True
        assert await lane.call_value("disable_schedule", "s", "bob") is False
        assert (await schedule(lane))["updated_by"] == "ada"
        assert await fire(lane, fire_of(before, None)) == []
        assert await lane.call("list_due_schedules") == []
        assert await lane.call_value("next_tick_in") is None


async def test_there_must_be_one(database: Database) -> None:
    with pytest.raises(UnknownSchedule):
        await database.call("disable_schedule", "nobody")
