from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_schedules import create


async def test_each_schedule_has_its_last_few_the_newest_first(database: Database) -> None:
    for name in "abc":
        await create(database, name)
    for name in "abaaa":
        await database.call("trigger_schedule", name)
    rows = await database.call("list_latest_ticks", 2)
    assert [row["schedule"] for row in rows] == ["a", "a", "b"]
    assert rows[0]["id"] > rows[1]["id"]
    assert len(await database.call("list_latest_ticks")) == 5


async def test_what_cannot_be_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="most must be from 1 to 100, not 101"):
        await database.call("list_latest_ticks", 101)
