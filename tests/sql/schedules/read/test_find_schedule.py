from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownSchedule
from tests.support.sql_schedules import create
from tests.support.sql_waits import meet


async def find(database: Database, name: str | None) -> str:
    return (await database.call("find_schedule", name))[0]["name"]


async def test_a_name_goes_before_an_id(database: Database) -> None:
    first, second = await create(database, "a"), await create(database, "b")
    await database.execute("update leasehold.schedules set name = '1' where name = 'b'")  # as they could be called once
    assert (first["id"], second["id"]) == (1, 2)
    assert [await find(database, name) for name in ("a", "1", "2")] == ["a", "1", "1"]


async def test_who_is_not_there_is_named(database: Database) -> None:
    for name in ["nobody", "99", "-1", "99999999999999999999", "", None]:
        with pytest.raises(UnknownSchedule, match="there is no schedule"):
            await find(database, name)
    for function in ("disable_schedule", "enable_schedule", "enqueue_for_rows", "generate_jobs", "trigger_schedule"):
        with pytest.raises(UnknownSchedule, match="there is no schedule 'nobody'"):
            await database.call(function, "nobody")
    with pytest.raises(UnknownSchedule, match="there is no schedule 'nobody'"):
        await database.call("update_schedule", "nobody", '{"priority": 1}')


async def test_it_can_be_locked(database: Database) -> None:
    await create(database)
    await meet(
        database,
        lambda first: first.call("find_schedule", "s", True),
        lambda second: second.call("update_schedule", "s", '{"priority": 1}'),
    )
