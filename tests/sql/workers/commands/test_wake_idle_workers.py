from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_waits import freeze, heard, rolled_back
from tests.support.sql_worker import SqlWorker, frozen_worker


async def idle_worker(database: Database, *queues: str, listening: bool = True) -> SqlWorker:
    worker = SqlWorker(database)
    await worker.register(queues=queues, listening=listening)
    await worker.claim(queues=queues)
    return worker


async def test_an_enqueue_wakes_an_idle_worker_once_for_each_queue(database: Database) -> None:
    await idle_worker(database)
    await idle_worker(database)
    jobs = [{"kind": "a", "queue": q} for q in "xyxy"]
    assert await heard(database, lambda: enqueue_many(database, jobs)) == ["wake:x", "wake:y"]


async def test_a_worker_that_serves_some_queues_is_woken_for_those(database: Database) -> None:
    await idle_worker(database, "x", "z")
    jobs = [{"kind": "a", "queue": q} for q in "xyz"]
    assert await heard(database, lambda: enqueue_many(database, jobs)) == ["wake:x", "wake:z"]


async def test_nobody_is_woken_when_there_is_nobody(database: Database) -> None:
    assert await heard(database, lambda: enqueue(database)) == []
    assert await database.call_value("wake_idle_workers", ["default"]) == 0


async def test_a_busy_worker_is_left_alone(database: Database) -> None:
    worker = SqlWorker(database)
    await worker.register()
    await worker.given()
    assert await heard(database, lambda: enqueue(database)) == []


async def test_a_worker_that_does_not_listen_is_left_alone(database: Database) -> None:
    await idle_worker(database, listening=False)
    assert await heard(database, lambda: enqueue(database)) == []


@pytest.mark.parametrize("state", ["draining", "stopped"])
async def test_a_worker_that_wants_no_more_is_left_alone(database: Database, state: str) -> None:
    worker = await idle_worker(database)
    if state == "stopped":
        await database.call("stop_worker", worker.incarnation)
    else:
        await database.call("heartbeat_worker", worker.incarnation, 0, state, True)
    assert await heard(database, lambda: enqueue(database)) == []


async def test_a_worker_that_has_not_been_heard_of_for_minutes_is_left_alone(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register()
        await worker.claim()
        assert await heard(database, lambda: enqueue(connection)) == ["wake:default"]
        await freeze(connection, "2026-03-01 12:05Z")
        assert await heard(database, lambda: enqueue(connection)) == []


async def test_notify_false_wakes_nobody(database: Database) -> None:
    await idle_worker(database)
    assert await heard(database, lambda: enqueue(database, notify=False)) == []


async def test_nobody_is_woken_for_a_job_that_waits(database: Database) -> None:
    await enqueue(database, key="k")
    holder = SqlWorker(database)
    await holder.claim()
    await idle_worker(database)
    assert await heard(database, lambda: enqueue(database, key="k")) == []


@pytest.mark.parametrize(("delay", "expected"), [(60, ["wake:default"]), (3600, [])])
async def test_a_job_due_before_long_wakes_and_a_later_one_does_not(
    database: Database, delay: int, expected: list[str]
) -> None:
    await idle_worker(database)
    assert await heard(database, lambda: enqueue_many(database, [{"kind": "a", "delay": delay}])) == expected


async def test_a_wake_up_leaves_with_the_commit_and_not_at_all_with_a_rollback(database: Database) -> None:
    await idle_worker(database)

    async def roll_back() -> None:
        async with rolled_back(database) as transaction:
            await enqueue(transaction)

    assert await heard(database, roll_back) == []
    assert await heard(database, lambda: enqueue(database)) == ["wake:default"]


async def test_of_two_serializable_transactions_that_enqueue_side_by_side_both_commit_and_wake(
    database: Database,
) -> None:
    await idle_worker(database, "x", "y")
    enqueue_some = "begin isolation level serializable; select leasehold.enqueue_job('a', queue => 'x')"
    enqueue_many = (
        """begin isolation level serializable; select from leasehold.enqueue_jobs('[{"kind": "a", "queue": "y"}]')"""
    )

    async def side_by_side() -> None:
        for script in (enqueue_some, enqueue_many):
            async with database.reserve("one") as one, database.reserve("other") as other:
                await one.execute(script)
                await other.execute(script)
                await one.execute("commit")
                await other.execute("commit")

    assert await heard(database, side_by_side) == ["wake:x", "wake:x", "wake:y", "wake:y"]
    async with database.reserve("one") as one:  # a busy fleet needs nobody to wake it
        await database.execute("update leasehold.workers set idle = false")
        assert await heard(database, lambda: one.execute(f"{enqueue_some}; commit")) == []
