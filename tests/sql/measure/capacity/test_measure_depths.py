from __future__ import annotations

from leasehold.database import Database, ReservedConnection
from tests.support.sql_books import call_everything_big
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze, open_transaction


async def counted(connection: ReservedConnection) -> list[tuple[object, ...]]:
    return [
        tuple(row)
        for row in await connection.fetch("select queue, state, jobs from leasehold.queue_depths order by 1, 2")
    ]


async def test_a_big_table_is_counted_so_seldom_that_it_takes_a_hundredth_of_the_time(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await freeze(connection, "2026-03-01 12:00Z")
        await enqueue_many(connection, [{"kind": "a", "queue": "q"}] * 2 + [{"kind": "a", "queue": "r", "delay": 60}])
        assert await connection.call_value("measure_depths") == 5.0
        assert await counted(connection) == [("q", "pending", 2), ("r", "scheduled", 1)]
        await connection.execute("update leasehold.depth_counts set took = 0.3; delete from leasehold.jobs")
        await freeze(connection, "2026-03-01 12:00:10Z")
        assert await connection.call_value("measure_depths") == 20.0
        assert await counted(connection) == [("q", "pending", 2), ("r", "scheduled", 1)]
        await freeze(connection, "2026-03-01 12:00:30Z")
        await connection.call_value("measure_depths")
        assert await counted(connection) == []


async def test_a_small_table_is_not_counted_and_an_old_count_of_it_forgotten(database: Database) -> None:
    async with database.reserve("counting") as connection:
        await call_everything_big(connection)
        await enqueue_many(connection, [{"kind": "a"}])
        await connection.call("measure_depths")
        await connection.execute("set leasehold.small_table = ''")
        assert await connection.call_value("measure_depths") == 5.0
        assert await connection.fetch("select from leasehold.depth_counts") == []


async def test_of_two_at_once_one_does_it(database: Database) -> None:
    async with open_transaction(database, "first") as first:
        await first.call("measure_depths")
        assert await database.call_value("measure_depths") is None
