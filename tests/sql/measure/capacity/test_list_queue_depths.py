from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database, ReservedConnection
from tests.support.sql_books import call_everything_big, close, finish
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze
from tests.support.sql_work import measured

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def depths(connection: ReservedConnection) -> list[tuple[object, ...]]:
    return sorted(tuple(row)[:5] for row in await connection.call("list_queue_depths"))


async def test_small_tables_are_counted_when_somebody_asks(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await enqueue_many(connection, [{"kind": "a", "queue": "q"}] * 2)
        await finish(connection, "2026-03-01 11:00Z", 3)
        await freeze(connection, "2026-03-01 12:00Z")
        assert await depths(connection) == [("q", "completed", 3, True, NOON), ("q", "pending", 2, True, NOON)]


async def test_of_big_ones_the_last_count_is_given_with_its_time(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await enqueue_many(connection, [{"kind": "a", "queue": "q"}] * 2)
        await finish(connection, "2026-03-01 11:00Z", 3)
        await finish(connection, "2026-03-01 11:00Z", 1, state="failed")
        await close(connection, "2026-03-01 11:30:05Z")
        await freeze(connection, "2026-03-01 11:40Z")
        await connection.call("measure_depths")
        await enqueue_many(connection, [{"kind": "a", "queue": "q"}] * 2)
        await connection.execute("begin")
        async with measured(connection) as work:
            found = await depths(connection)
        await connection.execute("rollback")
    assert found == [
        ("q", "completed", 3, False, NOON.replace(hour=11, minute=30)),
        ("q", "failed", 1, False, NOON.replace(hour=11, minute=30)),
        ("q", "pending", 2, False, NOON.replace(hour=11, minute=40)),
    ]
    assert (work.seq_scans, work.entries) == (0, 1)  # the last: that the queue has pending jobs


async def test_a_count_that_found_no_pending_jobs_of_a_queue_is_made_good_where_there_are_some_now(
    database: Database,
) -> None:
    async with database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await enqueue_many(connection, [{"kind": "a", "queue": "known"}, {"kind": "a", "queue": "idle", "delay": 60}])
        await freeze(connection, "2026-03-01 11:40Z")
        await connection.call("measure_depths")
        await freeze(connection, "2026-03-01 12:00Z")
        await enqueue_many(connection, [{"kind": "a", "queue": "known"}] * 2 + [{"kind": "a", "queue": "idle"}] * 3)
        await connection.execute(
            "insert into leasehold.jobs (kind, queue) select 'a', 'new' from generate_series(1, 1001)"
        )
        before = NOON.replace(hour=11, minute=40)
        of_all = [
            ("idle", "pending", 3, False, NOON),
            ("idle", "scheduled", 1, False, before),
            ("known", "pending", 1, False, before),
            ("new", "pending", 1_000, False, NOON),
        ]
        assert await depths(connection) == of_all
        for queue in ("idle", "known", "new", "no such queue"):
            rows = await connection.call("list_queue_depths", queue)
            assert sorted(tuple(row)[:5] for row in rows) == [row for row in of_all if row[0] == queue]
            assert {row["queue"] for row in rows if row["is_partial"]} == {queue} & {"new"}


async def test_what_nobody_has_counted_yet_is_counted(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await enqueue_many(connection, [{"kind": "a", "queue": "q"}])
        await finish(connection, "2026-03-01 11:00Z", 3)
        await freeze(connection, "2026-03-01 12:00Z")
        assert await depths(connection) == [("q", "completed", 3, True, NOON), ("q", "pending", 1, True, NOON)]


async def test_a_new_queue_is_counted_by_the_index_in_a_table_whose_rows_were_changed(fresh_database: Database) -> None:
    """Postgres believes that a thousand of its jobs are found soon from the beginning of the table, and they are at the end."""
    insert = "insert into leasehold.jobs (kind, queue) select 'a', $1 from generate_series(1, $2::int)"
    async with fresh_database.reserve("asks") as connection:
        await call_everything_big(connection)
        await connection.fetch(insert, "old", 20_000)
        await connection.call("measure_depths")
        await connection.fetch(insert, "new", 10)
        await connection.execute("update leasehold.jobs set priority = 1 where id % 3 = 0")
        await connection.execute("analyze leasehold.jobs")
        await connection.execute("begin")
        async with measured(connection) as work:
            found = {row["queue"]: row["jobs"] for row in await connection.call("list_queue_depths")}
        await connection.execute("rollback")
    assert (found, work.seq_scans) == ({"old": 20_000, "new": 10}, 0)
