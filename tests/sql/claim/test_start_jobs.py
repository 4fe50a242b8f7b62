from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many, events, job, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def test_a_started_job_is_running_since_now(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await enqueue(connection)
        claimed = await worker.claim()
        await freeze(connection, "2999-03-01 12:00Z")
        assert await worker.start(claimed) == {}
        row = await job(connection, 1)
    assert (row["state"], row["started_at"]) == ("running", datetime(2999, 3, 1, 12, tzinfo=UTC))
    assert await events(database, 1) == [("created", 0), ("claimed", 1), ("started", 1)]


async def test_starting_twice_keeps_the_first_time(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    claimed = await worker.claim()
    await worker.start(claimed)
    before = await job(database, 1)
    assert await worker.start(claimed) == {}
    assert await job(database, 1) == before


async def test_only_what_this_worker_holds_is_started(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 3)
    claimed = await worker.claim()
    await database.call("cancel_job", 2)
    assert await worker.start(claimed) == {2: "cancelled"}
    assert await states(database) == {1: "running", 2: "cancelled", 3: "running"}
