from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UnknownSchedule
from tests.support.sql_schedules import create, fire, fire_of, planned, schedule


async def ids(database: Database, **filters: object) -> list[int]:
    first = (await database.fetch("select min(id) from leasehold.schedule_ticks"))[0][0]
    return [row["id"] - first + 1 for row in await database.call("list_schedule_ticks", timeout=None, **filters)]


async def test_they_come_newest_first_in_pages(database: Database) -> None:
    await create(database, "a")
    await create(database, "b")
    for name in "abaab":
        await database.call("trigger_schedule", name)
    assert await ids(database) == [5, 4, 3, 2, 1]
    assert await ids(database, name="a") == [4, 3, 1]
    assert await ids(database, name="2", page_size=1) == [5]
    rows = await database.call("list_schedule_ticks", None, None, None, 2)
    assert await ids(database, before_id=rows[-1]["id"]) == [3, 2, 1]


async def test_they_can_be_asked_for_by_outcome(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection)
        at = row["next_run_at"].isoformat()
        await fire(connection, fire_of(row, at, [{"at": at, "outcome": "failed", "error": "why"}]))
        await connection.call("trigger_schedule", "s")
        assert [row["error"] for row in await connection.call("list_schedule_ticks", None, "failed")] == ["why"]
        assert len(await connection.call("list_schedule_ticks", "s", "fired")) == 1
        assert await connection.call("list_schedule_ticks", "s", "skipped") == []
        assert (await schedule(connection))["last_error"] is None


async def test_what_cannot_be_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="the outcome of a tick is never 'lost'"):
        await database.call("list_schedule_ticks", None, "lost")
    with pytest.raises(BadInput, match="page_size must be from 1 to 1000, not 0"):
        await database.call("list_schedule_ticks", None, None, None, 0)
    with pytest.raises(UnknownSchedule):
        await database.call("list_schedule_ticks", "nobody")
