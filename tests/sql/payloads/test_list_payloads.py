from __future__ import annotations

from typing import Any

from leasehold.database import Database
from tests.support.sql_payloads import add


async def ids(database: Database, **given: Any) -> list[int]:
    return [row["id"] for row in await database.call("list_payloads", **given)]


async def test_the_newest_come_first_and_pages_follow_one_another(database: Database) -> None:
    made = [await add(database) for _ in range(3)]
    assert await ids(database, page_size=2) == [made[2], made[1]]
    assert await ids(database, page_size=2, before_id=made[1]) == [made[0]]


async def test_they_are_told_apart_by_key_kind_and_job(database: Database) -> None:
    shop = await add(database, key="7")
    image = await add(database, kind="image", key="7", job_id=5)
    assert await ids(database, key="7") == [image, shop]
    assert await ids(database, key="7", kind="catalogue") == [shop]
    assert await ids(database, job_id=5) == [image]


async def test_what_has_expired_is_not_listed(database: Database) -> None:
    await database.call("expire_payloads", [await add(database)])
    assert await ids(database) == []
