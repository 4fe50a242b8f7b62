from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_limits import enqueue_groups, limit
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker


async def test_buckets_are_filled_up_to_now_and_nothing_more_happens(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await limit(connection, rate=2.0, burst=10)
        await limit(connection, group="*", rate=1.0, burst=10)
        await limit(connection, 5, group="free")
        await enqueue_groups(connection, [*"aaaa", "free"])
        await SqlWorker(connection).claim(10)
        await freeze(connection, "2026-03-01 12:00:02Z")
        await connection.call("refill_buckets", "default")
        rows = await connection.fetch(
            "select key_group, tokens, extract(second from filled_at)::int from leasehold.rate_buckets"
        )
    assert {tuple(row) for row in rows} == {("", 9.0, 2), ("a", 8.0, 2)}
