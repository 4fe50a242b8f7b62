from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, WrongState
from tests.sql.workers.commands.test_wake_idle_workers import heard
from tests.support.sql_schedules import change, create, definition, schedule


async def test_only_what_is_named_changes(database: Database) -> None:
    before = await create(database, args={"a": 1}, key="k", stagger=5)
    after = await change(database, priority=7, key=None)
    different = {name for name in before.keys() if before[name] != after[name]}  # noqa: SIM118
    assert different == {"priority", "key", "revision", "updated_at"}
    assert (after["priority"], after["key"]) == (7, None)


async def test_a_new_rhythm_takes_the_place_of_the_old(database: Database) -> None:
    await create(database, every=60)
    row = await change(database, cron="@daily")
    assert (row["every"], row["cron"], row["at"]) == (None, "@daily", None)
    row = await change(database, at="2031-01-01T00:00:00Z")
    assert (row["every"], row["cron"], row["at"].year) == (None, None, 2031)


async def test_a_schedule_without_a_rhythm_is_none(database: Database) -> None:
    await create(database, every=60)
    with pytest.raises(BadInput, match="exactly one of every, cron and at, not 0"):
        await change(database, every=None)


async def test_changing_nothing_leaves_the_revision_and_wakes_nobody(database: Database) -> None:
    before = await create(database, every=60, args={"a": 1})
    assert await heard(database, lambda: change(database, every="PT1M", args={"a": 1}, missed=None)) == []
    assert await schedule(database) == before


async def test_an_older_revision_is_refused(database: Database) -> None:
    await create(database)
    await database.call("update_schedule", "s", '{"priority": 1}', 1)
    with pytest.raises(WrongState, match="has revision 2 by now, not 1"):
        await database.call("update_schedule", "s", '{"priority": 2}', 1)


async def test_a_schedule_keeps_its_name(database: Database) -> None:
    await create(database)
    with pytest.raises(BadInput, match="cannot give a schedule another name"):
        await database.call("update_schedule", "s", '{"name": "t"}')
    with pytest.raises(BadInput, match="changes must be a JSON object"):
        await database.call("update_schedule", "s", "[]")


async def test_changes_of_a_declared_schedule_are_remembered_as_such(database: Database) -> None:
    await database.call("declare_schedule", definition(priority=1, cron="@daily"))
    assert (await change(database, priority=2))["overridden"] == ["priority"]
    assert (await change(database, every=5))["overridden"] == ["at", "cron", "every", "priority"]
    assert json.loads((await schedule(database))["declared"])["priority"] == 1


async def test_what_was_made_by_hand_has_nothing_to_override(database: Database) -> None:
    await create(database)
    assert (await change(database, priority=2))["overridden"] == []
