from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many


async def test_one_queue_is_as_in_the_list(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "q"}] * 3 + [{"kind": "a", "queue": "r"}])
    async with database.reserve("clocked") as connection:
        await connection.execute("set leasehold.frozen_clock = '2026-03-01 12:00Z'")
        (listed, _) = await connection.call("list_capacity")
        assert [tuple(row) for row in await connection.call("get_capacity", "q")] == [tuple(listed)]
        assert await connection.call("get_capacity", "nobody") == []
