from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_limits import enqueue_groups, limit, pile_up_group
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker


async def test_groups_that_hold_most_come_first_then_the_longest_lines(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await limit(connection, 1, group="*")
        await enqueue_groups(connection, [*"aabccc", None])
        await enqueue_groups(connection, "z", queue="other")
        await SqlWorker(connection).claim(1)
        await freeze(connection, "2026-03-01 12:00:30Z")
        rows = await connection.call("list_key_groups", "default")
        few = await connection.call("list_key_groups", "default", 1, 2)
    assert [tuple(row) for row in rows] == [("a", 1, 1, 30.0), ("c", 0, 3, 30.0), ("b", 0, 1, 30.0)]
    assert [row["key_group"] for row in few] == ["a"]


async def test_a_group_that_only_holds_has_no_line(database: Database) -> None:
    await enqueue_groups(database, "a")
    await SqlWorker(database).claim(1)
    (row,) = await database.call("list_key_groups", "default")
    assert tuple(row) == ("a", 1, 0, None)


async def test_a_long_line_is_counted_up_to_a_bound(database: Database) -> None:
    await pile_up_group(database, "big", 300)
    (row,) = await database.call("list_key_groups", "default", 10, 100)
    assert (row["key_group"], row["pending"]) == ("big", 100)


async def test_it_goes_from_group_to_group_through_the_index(database: Database) -> None:
    await pile_up_group(database, "big", 3000)
    await pile_up_group(database, "small", 1)
    assert [row[0] for row in await database.call("list_key_groups", "default", 5, 10)] == ["big", "small"]
