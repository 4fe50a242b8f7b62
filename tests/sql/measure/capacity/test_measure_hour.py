from __future__ import annotations

import pytest

from leasehold.database import Database, Row
from tests.support.sql_books import call_everything_big, close, finish
from tests.support.sql_jobs import empty, enqueue_many
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker


async def test_the_last_hour_is_measured_alike_from_small_and_from_big_tables(
    database: Database, subtests: pytest.Subtests
) -> None:
    for is_big in [False, True]:
        await empty(database)
        with subtests.test(is_big=is_big):
            async with database.reserve("clocked") as connection:
                worker = SqlWorker(connection)
                await finish(connection, "2026-03-01 10:00Z", 50)
                await finish(connection, "2026-03-01 11:20Z", 4, run=3.0)
                await finish(connection, "2026-03-01 11:20Z", 1, run=3.0, state="failed")
                await freeze(connection, "2026-03-01 11:55Z")
                await worker.fail(await worker.given_all([{"kind": "a", "queue": "q"}] * 5, 1), ran_for=[0.0])
                await close(connection, "2026-03-01 12:00:05Z")
                if is_big:
                    await call_everything_big(connection)
                (row,) = await connection.call("measure_hour")
            assert figures(row) == ("q", 4, 1, 6, 15.0, 45.0, 5, 1, 600.0)


async def test_a_queue_that_is_new_has_arrivals_of_the_time_since(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue_many(connection, [{"kind": "a", "queue": "q"}] * 5)
        await freeze(connection, "2026-03-01 12:00:10Z")
        assert (await connection.call("measure_hour"))[0]["arrival_seconds"] == 60.0
        await freeze(connection, "2026-03-01 12:03Z")
        assert (await connection.call("measure_hour"))[0]["arrival_seconds"] == 180.0


def figures(row: Row) -> tuple[object, ...]:
    return tuple(row)
