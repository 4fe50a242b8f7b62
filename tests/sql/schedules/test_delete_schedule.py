from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import create, jobs_made


async def test_its_ticks_go_and_its_jobs_stay(database: Database) -> None:
    await create(database)
    await create(database, "other")
    await database.call("trigger_schedule", "s")
    await database.call("trigger_schedule", "other")
    assert await database.call_value("delete_schedule", "s") is True
    assert await database.call_value("delete_schedule", "s") is False
    assert [row["name"] for row in await database.call("list_schedules")] == ["other"]
    assert [row["schedule"] for row in await database.call("list_schedule_ticks")] == ["other"]
    assert len(await jobs_made(database)) == 2
