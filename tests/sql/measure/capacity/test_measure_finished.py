from __future__ import annotations

from leasehold.database import Database, ReservedConnection
from tests.support.sql_books import call_everything_big, close, finish
from tests.support.sql_waits import freeze, open_transaction


async def depths(connection: ReservedConnection) -> dict[tuple[str, str], int]:
    rows = await connection.call("list_queue_depths")
    return {(row["queue"], row["state"]): row["jobs"] for row in rows}


async def test_kept_jobs_are_summed_up_so_seldom_that_it_takes_a_hundredth_of_the_time(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await finish(connection, "2026-03-01 11:00Z", 3, queue="q")
        await finish(connection, "2026-03-01 11:00Z", 1, state="failed", queue="r")
        await close(connection, "2026-03-01 11:30:05Z")
        assert await connection.call_value("measure_finished") == 5.0
        assert await depths(connection) == {("q", "completed"): 3, ("r", "failed"): 1}
        await finish(connection, "2026-03-01 11:31Z", 2, queue="q")
        await close(connection, "2026-03-01 11:34:05Z")
        await connection.execute("update leasehold.finished_counts set took = 3")
        assert await connection.call_value("measure_finished") == 60.0
        assert (await depths(connection))["q", "completed"] == 3
        await freeze(connection, "2026-03-01 11:36Z")
        await connection.call_value("measure_finished")
        assert (await depths(connection))["q", "completed"] == 5


async def test_an_old_sum_is_not_told(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await call_everything_big(connection)
        await finish(connection, "2026-03-01 11:00Z", 3, queue="q")
        await close(connection, "2026-03-01 11:30:05Z")
        await connection.call_value("measure_finished")
        await finish(connection, "2026-03-01 11:31Z", 2, queue="q")
        await close(connection, "2026-03-01 11:50:05Z")
        assert await depths(connection) == {("q", "completed"): 5}


async def test_a_small_table_needs_no_sum(database: Database) -> None:
    async with database.reserve("counting") as connection:
        await call_everything_big(connection)
        await connection.call("measure_finished")
        await connection.execute("set leasehold.small_table = ''")
        assert await connection.call_value("measure_finished") == 5.0
        assert await connection.fetch("select from leasehold.finished_counts") == []


async def test_of_two_at_once_one_does_it(database: Database) -> None:
    async with open_transaction(database, "first") as first:
        await first.call("measure_finished")
        assert await database.call_value("measure_finished") is None
