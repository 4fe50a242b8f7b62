from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownSchedule
from tests.support.sql_schedules import planned, schedule
from tests.support.sql_waits import freeze


async def test_ticks_count_from_then_on(database: Database) -> None:
    async with database.lane("clocked") as lane:
        await planned(lane)
        await lane.call("disable_schedule", "s")
        await freeze(lane, "2030-05-01 00:00Z")
        assert await lane.call_value("enable_schedule", "s") is True
        row = await schedule(lane)
        assert (row["next_run_at"], row["planned_revision"]) == (None, None)
        assert row["planned_from"].month == 5
        assert await lane.call_value("enable_schedule", "s") is False
        assert await schedule(lane) == row


async def test_there_must_be_one(database: Database) -> None:
    with pytest.raises(UnknownSchedule):
        await database.call("enable_schedule", "nobody")
