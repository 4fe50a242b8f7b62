from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownSchedule, WrongState
from tests.support.sql_schedules import change, create, definition, schedule


async def test_it_is_again_as_code_declared_it(database: Database) -> None:
    await database.call("declare_schedule", definition(cron="@daily", priority=1))
    await change(database, priority=2, every=7, enabled=False)
    [row] = await database.call("reset_schedule", "s", "ada")
    assert (row["priority"], row["every"], row["cron"], row["enabled"]) == (1, None, "@daily", True)
    assert (row["overridden"], row["updated_by"]) == ([], "ada")


async def test_where_nothing_was_changed_nothing_happens(database: Database) -> None:
    await database.call("declare_schedule", definition())
    before = await schedule(database)
    assert await database.call("reset_schedule", "s") == [before]


async def test_only_a_declared_schedule_can_be_reset(database: Database) -> None:
    await create(database)
    with pytest.raises(WrongState, match="made by hand"):
        await database.call("reset_schedule", "s")
    with pytest.raises(UnknownSchedule):
        await database.call("reset_schedule", "nobody")
