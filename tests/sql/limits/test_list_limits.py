from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_limits import enqueue_groups, limit, usage
from tests.support.sql_waits import frozen
from tests.support.sql_worker import SqlWorker


async def test_it_says_how_far_each_limit_is_used(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await limit(connection, 10, rate=2.0, burst=6)
        await limit(connection, 2, group="*", rate=0.5, burst=2)
        await limit(connection, 3, group="c")
        await limit(connection, 1, queue="other")
        await enqueue_groups(connection, [*"aaabbccc", None])
        await SqlWorker(connection).claim(6)
        found = await usage(connection)
    rows = {group: tuple(row)[2:] for group, row in found.items()}
    assert rows == {
        "": (10, 2.0, 6, 6, 0.0, 0.5),
        "*": (2, 0.5, 2, 2, 0.0, 2.0),
        "c": (3, None, None, 1, None, None),
    }


async def test_an_unused_limit_has_all_its_tokens(database: Database) -> None:
    await limit(database, rate=2.0, burst=6)
    row = (await usage(database))[""]
    assert (row["running"], row["tokens"], row["next_token_in"]) == (0, 6.0, 0.0)


async def test_all_queues_are_listed_in_order(database: Database) -> None:
    await limit(database, 1, queue="b")
    await limit(database, 1, queue="a", group="*")
    await limit(database, 1, queue="a")
    rows = await database.call("list_limits")
    assert [(row["queue"], row["key_group"]) for row in rows] == [("a", ""), ("a", "*"), ("b", "")]
