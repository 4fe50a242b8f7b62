from __future__ import annotations

from datetime import datetime

from leasehold.database import Caller, Database
from tests.support.sql_jobs import pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def arrivals(caller: Caller, *args: object) -> list[tuple[str, int | None]]:
    rows = await caller.call("list_arrivals", *args)
    return [(row["event"], row["job_id"]) for row in rows if row["event"] is not None]


async def test_jobs_with_greater_ids_are_new_and_claims_and_starts_since_a_moment(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 11:00Z") as (connection, worker):
        await pile_up(connection, 3)
        await worker.claim_one()
        await freeze(connection, "2030-01-01 12:00Z")
        assert await arrivals(connection, 2, NOON) == [("created", 3)]
        await worker.start([await worker.claim_one()])
        assert await arrivals(connection, 3, NOON) == [("claimed", 2), ("started", 2)]
        assert await arrivals(connection, 3, NOON.replace(year=2031)) == []


async def test_workers_that_came_and_went_are_told(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        await worker.register()
        await freeze(connection, "2030-01-01 12:01Z")
        await connection.call("stop_worker", worker.incarnation)
        rows = await connection.call("list_arrivals", 0, NOON)
        assert [(row["event"], row["worker_id"]) for row in rows] == [
            ("worker_started", "w1"),
            ("worker_stopped", "w1"),
        ]
        assert await arrivals(connection, 0, NOON.replace(minute=1)) == [("worker_stopped", None)]


async def test_the_newest_id_is_told_even_where_nothing_is_new(database: Database, worker: SqlWorker) -> None:
    (row,) = await database.call("list_arrivals", 0, NOON)
    assert (row["event"], row["newest_id"]) == (None, 0)
    await worker.complete(await worker.given())
    (row,) = await database.call("list_arrivals", 5, NOON)
    assert (row["event"], row["newest_id"]) == (None, 1)


async def test_of_too_many_new_jobs_the_newest_are_told(database: Database) -> None:
    await pile_up(database, 10)
    assert await arrivals(database, 0, NOON, 3) == [("created", 8), ("created", 9), ("created", 10)]
