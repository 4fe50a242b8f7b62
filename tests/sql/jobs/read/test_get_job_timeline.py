from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import complete_all, enqueue_blocked
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue, events
from tests.support.sql_waits import frozen
from tests.support.sql_worker import SqlWorker, frozen_worker

LIFE = [
    ("created", 0),
    ("claimed", 1),
    ("started", 1),
    ("attempt_failed", 1),
    ("claimed", 2),
    ("released", 2),
    ("claimed", 3),
    ("started", 3),
    ("rescheduled", 3),
    ("claimed", 4),
    ("reaped", 4),
    ("claimed", 5),
    ("started", 5),
    ("completed", 5),
]


async def live(worker: SqlWorker) -> None:
    """All that can happen to a job between its creation and its end."""
    caller = worker.caller
    await enqueue(caller)
    claimed = await worker.claim()
    await worker.start(claimed)
    await worker.fail(claimed, retry_in=[0.0])
    await worker.release(await worker.claim())
    claimed = await worker.claim()
    await worker.renew(claimed)
    await worker.reschedule(claimed, [0.0])
    await worker.claim()
    await expire(caller, 1)
    await caller.call("reap_jobs")
    await worker.complete(await worker.claim())


async def test_everything_that_happened_is_there_in_order(database: Database, worker: SqlWorker) -> None:
    await live(worker)
    assert await events(database, 1) == LIFE


async def test_the_order_holds_when_everything_happens_in_the_same_microsecond(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await live(SqlWorker(connection))
        assert await events(connection, 1) == LIFE


async def test_workers_are_named_with_what_they_did(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(), retry_in=[0.0])
    other = SqlWorker(database, "w2")
    await other.complete(await other.claim())
    rows = await database.call("get_job_timeline", 1)
    assert [row["worker_id"] for row in rows] == [None, "w1", "w1", "w1", "w2", "w2", "w2"]


async def test_other_jobs_have_their_own(database: Database, worker: SqlWorker) -> None:
    await live(worker)
    second = await enqueue(database)
    assert await events(database, second) == [("created", 0)]
    assert await events(database, 999) == []


async def test_what_held_a_job_up_and_let_it_go_is_told_in_order(database: Database) -> None:
    """At one moment of the clock, so that the order is that of the events themselves."""
    async with frozen_worker(database, "2030-01-01") as (connection, worker):
        await enqueue(connection, kind="part")
        joined = await enqueue_blocked(connection, [1], kind="a")
        await complete_all(worker, "part")
        await worker.block(await worker.claim(), [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}])
        assert await events(connection, joined) == [("created", 0), ("unblocked", 0), ("claimed", 1), ("blocked", 1)]
        await complete_all(worker, "part")
        told = await events(connection, joined)
    assert sorted(told) == sorted([("created", 0), ("unblocked", 0), ("claimed", 1), ("blocked", 1), ("unblocked", 1)])
