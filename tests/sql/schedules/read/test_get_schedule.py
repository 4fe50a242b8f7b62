from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownSchedule
from tests.support.sql_schedules import create


async def test_it_is_found_by_name_and_by_id(database: Database) -> None:
    row = await create(database)
    assert await database.call("get_schedule", "s") == [row] == await database.call("get_schedule", str(row["id"]))
    with pytest.raises(UnknownSchedule):
        await database.call("get_schedule", "nobody")
