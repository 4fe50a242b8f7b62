from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import create


async def names(database: Database, **filters: object) -> list[str]:
    return [row["name"] for row in await database.call("list_schedules", timeout=None, **filters)]


async def test_they_come_by_name_in_pages(database: Database) -> None:
    for name in ("b", "a", "d", "c"):
        await create(database, name)
    assert await names(database) == ["a", "b", "c", "d"]
    assert await names(database, page_size=2) == ["a", "b"]
    assert await names(database, after_name="b") == ["c", "d"]


async def test_they_can_be_filtered(database: Database) -> None:
    await create(database, "a", kind="x", queue="q")
    await create(database, "b", kind="x", enabled=False)
    await create(database, "c", kind="y", queue="q")
    assert await names(database, kind="x") == ["a", "b"]
    assert await names(database, queue="q") == ["a", "c"]
    assert await names(database, enabled=False) == ["b"]
    assert await names(database, enabled=True, kind="x", queue="q") == ["a"]
