"""What is told of one queue is what is told of it among all, and little is read for it."""

from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_books import call_everything_big, close, finish
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze
from tests.support.sql_work import measured

ROLLUPS = """
insert into leasehold.rollups (starts_at, seconds, queue, arrivals, starts, completed, failed, cancelled, retries, wait_seconds,
       run_seconds, run_squares, waits, runs)
select timestamptz '2026-03-01' - h * interval '1 hour', 3600, 'q' || q, 1, 1, 1, 0, 0, 0, 0, 0, 0, '{}', '{}'
  from generate_series(1, 500) q, generate_series(1, 20) h;
analyze leasehold.rollups;
"""


async def test_one_queue_alone_shows_what_it_shows_among_all(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await enqueue_many(connection, [{"kind": "a", "queue": q} for q in "aab"])
        await finish(connection, "2026-03-01 11:00Z", 3)
        await freeze(connection, "2026-03-01 11:30Z")
        every = {row["queue"]: tuple(row) for row in await connection.call("measure_capacity")}
        assert sorted(every) == ["a", "b", "q"]
        for queue, row in every.items():
            assert [tuple(alone) for alone in await connection.call("measure_capacity", queue)] == [row]
        assert await connection.call("measure_capacity", "nobody") == []


async def test_that_there_may_be_more_pending_jobs_than_were_counted_is_told(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await enqueue_many(connection, [{"kind": "a", "queue": "known"}])
        await connection.call("measure_depths")
        await connection.execute(
            "insert into leasehold.jobs (kind, queue) select 'a', 'new' from generate_series(1, 1001)"
        )
        told = {row["queue"]: (row["ready"], row["is_partial"]) for row in await connection.call("list_capacity")}
        assert told == {"known": (1, False), "new": (1_000, True)}


async def test_of_hundreds_of_queues_only_the_one_asked_for_is_read(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await finish(connection, "2026-03-01 11:00Z", 3)
        await close(connection, "2026-03-01 11:30:05Z")
        await freeze(connection, "2026-03-01 11:40Z")
        await connection.call("measure_depths")
        await connection.execute(ROLLUPS)
        await connection.call("get_capacity", "q7")
        await connection.execute("begin")
        async with measured(connection) as work:
            [row] = await connection.call("get_capacity", "q")
        await connection.execute("rollback")
    assert row["completed_last_hour"] == 3
    assert work.pages < 100
