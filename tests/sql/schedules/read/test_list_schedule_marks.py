from __future__ import annotations

from leasehold.database import Database, Row
from tests.support.sql_schedules import change, create


async def mark(database: Database) -> Row:
    [row] = await database.call("list_schedule_marks")
    return row


async def test_a_change_and_a_run_differ_in_what_they_mark(database: Database) -> None:
    await create(database)
    made = await mark(database)
    assert made["name"] == "s"
    await change(database, priority=3)
    changed = await mark(database)
    assert (changed["definition"] != made["definition"], changed["runs"] == made["runs"]) == (True, True)
    await database.call("trigger_schedule", "s")
    ran = await mark(database)
    assert (ran["definition"] == changed["definition"], ran["runs"] != changed["runs"]) == (True, True)
    await database.call("disable_schedule", "s")
    assert (await mark(database))["definition"] != ran["definition"]
    await database.call("delete_schedule", "s")
    assert await database.call("list_schedule_marks") == []
