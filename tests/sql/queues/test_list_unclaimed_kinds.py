from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many, pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_work import measured
from tests.support.sql_worker import SqlWorker

Found = dict[tuple[str, str], tuple[str, int]]


async def unclaimed(database: Database, most: int = 1000) -> Found:
    rows = await database.call("list_unclaimed_kinds", most)
    return {(row["queue"], row["kind"]): (row["reason"], row["jobs"]) for row in rows}


async def test_a_worker_must_have_both_the_queue_and_the_kind(database: Database) -> None:
    await enqueue_many(database, [{"kind": kind, "queue": queue} for kind in "kl" for queue in "qr"])
    await SqlWorker(database, "a").register(queues=["q"], kinds=["k"])
    await SqlWorker(database, "b").register(queues=["r"], kinds=["k", "l"])
    assert await unclaimed(database) == {("q", "l"): ("unserved", 1)}
    await SqlWorker(database, "c").register()
    assert await unclaimed(database) == {}


async def test_only_workers_that_are_alive_and_not_draining_serve(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "k"}])
    await worker.register()
    assert await unclaimed(database) == {}
    await database.call("heartbeat_worker", worker.incarnation, 0, "draining", True)
    assert await unclaimed(database) == {("default", "k"): ("unserved", 1)}
    await database.call("heartbeat_worker", worker.incarnation, 0, "ready", True)
    await database.execute("update leasehold.workers set heartbeat_at = heartbeat_at - interval '1 hour'")
    assert await unclaimed(database) == {("default", "k"): ("unserved", 1)}


async def test_what_somebody_has_paused_is_told_apart(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "k", "queue": queue} for queue in "pqr"])
    await worker.register(queues=["q"])
    await database.call("heartbeat_worker", worker.incarnation, 0, "paused", True)
    await database.call("pause_queue", "p")
    await database.call("pause_queue", "r")
    await database.call("resume_queue", "r")
    reasons = {queue: reason for (queue, _), (reason, _) in (await unclaimed(database)).items()}
    assert reasons == {"p": "paused", "q": "paused_workers", "r": "unserved"}


async def test_those_that_wait_longest_come_first_with_their_time(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for minute, kind in ((20, "later"), (0, "first"), (30, "first")):
            await freeze(connection, f"2026-03-01 12:{minute:02}Z")
            await enqueue_many(connection, [{"kind": kind}])
        rows = await connection.call("list_unclaimed_kinds")
    assert [(row["kind"], row["jobs"], row["waits_for"]) for row in rows] == [("first", 2, 1800.0), ("later", 1, 600.0)]


async def test_jobs_that_have_no_reason_to_run_yet_are_not_missed(database: Database) -> None:
    await enqueue_many(database, [{"kind": "later", "delay": 60}, *[{"kind": "k", "key": "x"}] * 2])
    assert await unclaimed(database) == {("default", "k"): ("unserved", 1)}


async def test_it_counts_no_more_jobs_than_it_was_told(fresh_database: Database) -> None:
    for kind in ("a", "b"):
        await pile_up(fresh_database, 2000, kind)
    async with fresh_database.reserve("measured") as connection:
        await connection.execute("begin")
        async with measured(connection) as work:
            rows = await connection.call("list_unclaimed_kinds", 100)
        await connection.execute("rollback")
    assert [(row["kind"], row["jobs"]) for row in rows] == [("a", 100), ("b", 100)]
    assert (work.seq_scans, work.entries <= 250, work.pages <= 150 + work.planning) == (0, True, True), work
