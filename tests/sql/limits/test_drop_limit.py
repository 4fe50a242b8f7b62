from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_limits import enqueue_groups, limit, usage
from tests.support.sql_worker import SqlWorker


async def test_without_its_limit_a_queue_is_claimed_from_freely(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1, rate=1.0)
    await enqueue_groups(database, "aaa")
    await worker.claim()
    assert await database.call_value("drop_limit", "default")
    assert len(await worker.claim()) == 2
    assert await usage(database) == {}


async def test_a_limit_that_is_not_there_cannot_be_dropped(database: Database) -> None:
    await limit(database, 1)
    assert not await database.call_value("drop_limit", "default", "*")
    assert not await database.call_value("drop_limit", "other")
    assert await database.call_value("drop_limit", "default", None)


async def test_the_other_limits_of_the_queue_stay(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1)
    await limit(database, 1, group="*")
    await limit(database, 3, group="a")
    await enqueue_groups(database, "aaaabb")
    await database.call("drop_limit", "default")
    assert len(await worker.claim(10)) == 4
    await database.call("drop_limit", "default", "a")
    assert (await usage(database)).keys() == {"*"}
    assert await worker.claim(10) == []


async def test_nothing_is_left_of_the_buckets_and_turns_that_it_governed(database: Database, worker: SqlWorker) -> None:
    await limit(database, rate=1.0, burst=5)
    await limit(database, rate=1.0, burst=5, group="*")
    await enqueue_groups(database, "ab")
    await worker.claim()
    await database.call("drop_limit", "default")
    assert len(await database.fetch("select from leasehold.rate_buckets")) == 2
    await database.call("drop_limit", "default", "*")
    assert await database.fetch("select from leasehold.rate_buckets") == []
    assert await database.fetch("select from leasehold.limit_turns") == []
