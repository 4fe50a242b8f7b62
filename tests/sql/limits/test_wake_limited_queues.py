from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.sql.workers.commands.test_wake_idle_workers import heard, idle_worker
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_limits import limit
from tests.support.sql_worker import SqlWorker


async def full_queue(database: Database) -> SqlWorker:
    """A limited queue with a held job, a pending one, and somebody who would like to run it."""
    await limit(database, 1)
    await enqueue_many(database, [{"kind": "a"}] * 2)
    worker = SqlWorker(database)
    await worker.claim()
    await idle_worker(database)
    return worker


@pytest.mark.parametrize("end", ["complete", "fail", "discard", "reschedule", "cancel", "continue"])
async def test_when_a_job_ends_an_idle_worker_hears_that_there_is_room(database: Database, end: str) -> None:
    worker = await full_queue(database)
    held = await database.fetch("select id as job_id, attempt from leasehold.jobs where state = 'claimed'")

    async def act() -> None:
        match end:
            case "complete":
                await worker.complete(held)
            case "fail":
                await worker.fail(held)
            case "discard":
                await worker.fail(held, discard=[True])
            case "reschedule":
                await worker.reschedule(held, [60.0])
            case "cancel":
                await database.call("cancel_job", held[0]["job_id"])
            case _:
                await database.call("continue_jobs", worker.incarnation, [held[0]["job_id"]], [1], ["{}"])

    assert "wake:default" in await heard(database, act)


async def test_nobody_is_woken_where_nothing_is_pending(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1)
    held = await worker.given()
    await idle_worker(database)
    assert await heard(database, lambda: worker.complete(held)) == []


async def test_nobody_is_woken_in_a_queue_without_max_running(database: Database, worker: SqlWorker) -> None:
    await limit(database, rate=1e-6, burst=1)
    await limit(database, 1, queue="other")
    held = await worker.given_all([{"kind": "a"}] * 2)
    await idle_worker(database)
    assert await heard(database, lambda: worker.complete(held)) == []


async def test_a_higher_limit_or_none_wakes_idle_workers(database: Database) -> None:
    await full_queue(database)
    assert await heard(database, lambda: limit(database, 2)) == ["wake:default"]
    assert await heard(database, lambda: database.call("drop_limit", "default")) == ["wake:default"]
