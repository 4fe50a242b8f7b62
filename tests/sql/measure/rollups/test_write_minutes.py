from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold.database import Database
from tests.support.sql_books import books, finish
from tests.support.sql_jobs import pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_work import UNDISTURBED, measured
from tests.support.sql_worker import SqlWorker, frozen_worker

NOON, LATER = datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2026, 3, 1, 12, 2, tzinfo=UTC)


async def test_queues_and_minutes_are_kept_apart_and_what_is_outside_is_left_out(database: Database) -> None:
    for at, queue in [("11:59:59.999", "q"), ("12:00", "q"), ("12:00:59.999", "r"), ("12:01", "q"), ("12:02", "q")]:
        await finish(database, f"2026-03-01 {at}Z", queue=queue, run=0.0005)
    await database.call("write_minutes", NOON, LATER, 0, 1)
    assert await books(database, "completed", "arrivals", "waits[1]") == [
        ("12:00", "q", 1, 1, 1),
        ("12:00", "r", 1, 1, 1),
        ("12:01", "q", 1, 1, 1),
    ]


async def test_a_start_belongs_to_its_minute_however_long_the_job_runs(database: Database) -> None:
    await finish(database, "2026-03-01 12:09Z", wait=30, run=8 * 60 + 30)
    await database.call("write_minutes", NOON, LATER, 0, 1)
    assert await books(database, "arrivals", "starts", "completed") == [("12:00", "q", 1, 1, 0)]


async def test_attempts_that_are_given_back_and_taken_back_count_as_starts_and_only_the_latter_as_retries(
    database: Database,
) -> None:
    async with frozen_worker(database, "2026-03-01 12:00:10Z") as (connection, worker):
        await worker.release(await worker.given_all([{"kind": "a", "queue": "q"}] * 3, 1))
        await worker.reschedule(await worker.claim(1), [3600.0])
        await worker.claim(1, lease=20)
        await freeze(connection, "2026-03-01 12:01:10Z")
        await connection.call("reap_jobs")
    await database.call("write_minutes", NOON, LATER, 0, 1)
    assert await books(database, "arrivals", "starts", "retries") == [("12:00", "q", 3, 3, 0), ("12:01", "q", 0, 0, 1)]


async def test_a_retried_job_that_was_forgotten_meanwhile_counts_nowhere(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00:10Z") as (connection, worker):
        await worker.fail(await worker.given_all([{"kind": "a", "queue": "q"}], 1))
        await connection.execute("delete from leasehold.jobs")
    await database.call("write_minutes", NOON, LATER, 0, 1)
    assert await books(database, "arrivals") == []


async def test_it_reads_what_came_and_what_is_held_and_not_the_whole_backlog(fresh_database: Database) -> None:
    await fresh_database.execute(UNDISTURBED)
    await pile_up(fresh_database, 20_000, "old", queue="q")
    worker = SqlWorker(fresh_database)
    for is_analyzed in (False, True):
        async with fresh_database.reserve("measured") as connection:
            if is_analyzed:
                await connection.execute("analyze leasehold.jobs")
            (last,) = await connection.fetch("select max(id) from leasehold.jobs")
            since = await connection.call_value("clock")
            assert isinstance(since, datetime)
            await pile_up(connection, 100, "new", queue="q")
            await worker.claim(20, kinds=["new"])
            await worker.fail(await worker.claim(10, kinds=["new"]), retry_in=[0.0] * 10)
            await connection.execute("begin")
            async with measured(connection) as work:
                minute = since.replace(second=0, microsecond=0)
                await connection.call("write_minutes", minute, minute + timedelta(minutes=2), last[0], 1)
            rows = await connection.fetch("select sum(arrivals), sum(starts) from leasehold.rollups")
            await connection.execute("rollback")
        assert rows[0][0] >= 100
        assert work.seq_scans == 0
        assert work.jobs_fetched <= 600
        assert work.pages <= 3000
