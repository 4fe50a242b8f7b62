from __future__ import annotations

from leasehold.database import Database, Row
from tests.support.sql_limits import enqueue_groups, limit
from tests.support.sql_worker import SqlWorker


async def open_groups(database: Database, wanted: int = 10) -> list[Row]:
    return await database.call("list_open_groups", "default", ["a", "a"], [0, 1], wanted)


async def test_each_group_with_room_is_listed_with_what_it_holds(database: Database, worker: SqlWorker) -> None:
    await limit(database, 2, group="*")
    await limit(database, 50, group="c")
    await enqueue_groups(database, [*"aaabbc", None])
    await worker.claim(1)
    rows = await open_groups(database)
    found = [(row["position"], row["key_group"], row["held"], row["room"]) for row in rows]
    assert found == [(1, "b", 0, 2), (2, "c", 0, 10), (3, None, 0, 10), (4, "a", 1, 1)]
    assert [row["class"] for row in rows] == [None, None, 0, None]


async def test_a_full_group_is_left_out(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1, group="*")
    await enqueue_groups(database, "aabb")
    await worker.claim(1)
    assert [row["key_group"] for row in await open_groups(database)] == ["b", None]


async def test_where_all_are_full_only_the_last_one_looked_at_is_said(database: Database) -> None:
    await limit(database, 0, group="*")
    await enqueue_groups(database, "ab")
    rows = await database.call("list_open_groups", "default", ["a"], [1], 10)
    assert [(row["key_group"], row["kind"], row["last"]) for row in rows] == [(None, None, "b")]
