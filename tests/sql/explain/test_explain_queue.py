from __future__ import annotations

import json
from datetime import UTC, datetime

from leasehold.database import Caller, Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_limits import enqueue_groups, limit
from tests.support.sql_worker import SqlWorker, frozen_worker


async def reasons(caller: Caller, queue: str = "q") -> list[str]:
    return [row["reason"] for row in await caller.call("explain_queue", queue)]


async def test_a_queue_without_pending_jobs_waits_for_nothing(database: Database, worker: SqlWorker) -> None:
    await worker.register(queues=["q"])
    await limit(database, 0, queue="q")
    await enqueue_many(database, [{"kind": "a", "queue": "q", "delay": 60}])
    assert await reasons(database) == []
    assert await reasons(database, "unknown") == []


async def test_a_pause_is_told_with_its_reason_and_with_what_else_is_in_the_way(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "q"}])
    await database.call("pause_queue", "q", "they asked us to")
    (row,) = await database.call("explain_queue", "q")
    assert row["reason"] == "paused"
    assert row["explanation"].endswith(": they asked us to")
    await limit(database, 0, queue="q")
    assert await reasons(database) == ["paused", "limited"]


async def test_kinds_that_nobody_serves_have_a_row_each(database: Database, worker: SqlWorker) -> None:
    await worker.register(queues=["q"], kinds=["a"])
    other = SqlWorker(database, "w2")
    await other.register(queues=["q"], kinds=["b"])
    await database.call("heartbeat_worker", other.incarnation, 0, "paused", True)
    await enqueue_many(database, [{"kind": kind, "queue": "q"} for kind in "aabcc"])
    await enqueue_many(database, [{"kind": "x", "queue": "elsewhere"}])
    told = [(row["reason"], row["explanation"]) for row in await database.call("explain_queue", "q")]
    assert told == [
        ("unserved", "no live worker serves kind c; 2 pending"),
        ("paused_workers", "all live workers that serve kind b are paused; 1 pending"),
    ]


async def test_full_limits_and_empty_buckets_are_told(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register(queues=["q"])
        await limit(connection, queue="q", rate=0.1, burst=2)
        await limit(connection, 1, group="*", queue="q")
        await enqueue_groups(connection, "aab", queue="q")
        assert await reasons(connection) == []
        await worker.claim()
        rows = await connection.call("explain_queue", "q")
    assert [(row["explanation"], row["until"]) for row in rows] == [
        (
            "it may start one every 10 s (2 at once), and its next start is in 10.0 s",
            datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC),
        ),
        ("a key group of it may have 1 running at once, and 1 are held", None),
    ]
    assert json.loads(rows[1]["facts"])["key_group"] == "*"


async def test_workers_without_a_free_slot_are_busy(database: Database, worker: SqlWorker) -> None:
    await worker.register(queues=["q"], slots=2)
    await enqueue_many(database, [{"kind": "a", "queue": "q"}] * 4)
    assert await reasons(database) == []
    await worker.claim(2)
    (row,) = await database.call("explain_queue", "q")
    assert (row["reason"], row["explanation"]) == ("busy", "all 2 slot(s) of the 1 worker(s) that serve it are taken")


async def test_slots_with_handlers_that_run_on_without_their_jobs_are_taken(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register(queues=["q"], slots=2)
    await enqueue_many(database, [{"kind": "a", "queue": "q"}] * 2)
    await worker.claim(1)
    await database.call("heartbeat_worker", worker.incarnation, 2, "ready", True, stray_handlers=1)
    (row,) = await database.call("explain_queue", "q")
    assert row["explanation"] == (
        "all 2 slot(s) of the 1 worker(s) that serve it are taken, 1 of them by handlers that still run although their jobs "
        "are gone (see leasehold workers stacks)"
    )


async def test_workers_that_all_lack_memory_are_backing_off(database: Database, worker: SqlWorker) -> None:
    await worker.register(queues=["q"])
    await enqueue_many(database, [{"kind": "a", "queue": "q"}])
    await database.call(
        "heartbeat_worker", worker.incarnation, 0, "ready", True, backoff="memory 91 %", backoff_for=600.0, timeout=None
    )
    (row,) = await database.call("explain_queue", "q")
    assert row["reason"] == "backing_off"
    assert row["explanation"] == "the 1 worker(s) that serve it claim nothing for now: w1: memory 91 %"
