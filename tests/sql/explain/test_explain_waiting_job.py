from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database, open_database
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


async def test_a_job_whose_time_has_not_come(database: Database, worker: SqlWorker) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await SqlWorker(connection).register()
        await enqueue(connection, run_at=datetime(2026, 3, 2, tzinfo=UTC))
        row = await because(connection, 1, "scheduled")
        assert row["explanation"] == "its time is 2026-03-02 00:00:00+00, in 43200 s"
        assert row["until"] == datetime(2026, 3, 2, tzinfo=UTC)
        assert await reasons(connection, 1) == ["scheduled"]
        await freeze(connection, "2026-03-02 00:01Z")
        assert (await because(connection, 1, "scheduled"))["explanation"].startswith(
            "it came due at 2026-03-02 00:00:00+00; "
        )


async def test_a_back_off_names_the_error_before_it(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(), retry_in=[60.0])
    assert (await because(database, 1, "scheduled"))["explanation"].endswith("; it failed before (ValueError: boom)")
    found = await facts(database, 1, "scheduled")
    assert (found["attempt"], found["error"]) == (1, {"type": "ValueError", "message": "boom"})


async def test_a_paused_queue_with_the_reason_of_whoever_paused_it(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await enqueue(database, queue="crawl")
    await enqueue(database, queue="other")
    await database.call("pause_queue", "crawl", "the shop asked us to")
    row = await because(database, 1, "paused")
    assert row["explanation"].startswith("queue crawl is paused since ")
    assert row["explanation"].endswith(": the shop asked us to")
    assert await reasons(database, 1) == ["paused"]
    assert "paused" not in await reasons(database, 2)
    await database.call("resume_queue", "crawl")
    assert "paused" not in await reasons(database, 1)


async def test_nobody_serves_it(database: Database, subtests: pytest.Subtests) -> None:
    for workers, explanation in [
        ([], "no worker is alive"),
        ([(("other",), ())], "no live worker serves queue q (1 alive)"),
        (
            [(("q",), ("other",)), (("other",), ("k",)), ((), ("other",))],
            "no live worker that serves queue q has a handler for kind k (3 alive: 2 with the queue, 1 with the kind)",
        ),
    ]:
        await empty(database)
        with subtests.test(workers=workers, explanation=explanation):
            for number, (queues, kinds) in enumerate(workers):
                await SqlWorker(database, f"w{number}").register(queues=queues, kinds=kinds)
            await enqueue(database, "k", queue="q")
            assert (await because(database, 1, "unserved"))["explanation"] == explanation
            assert await reasons(database, 1) == ["unserved"]


async def test_what_stops_it_for_ever_comes_before_what_passes(database: Database) -> None:
    for _ in range(2):
        await enqueue(database, key="k")
    await database.call("pause_queue", "default", None)
    await SqlWorker(database, "w").claim()
    await enqueue(database, key="k")
    assert await reasons(database, 3) == ["paused", "unserved", "key_line"]


async def test_a_scheduled_job_learns_early_that_nobody_would_take_it(database: Database) -> None:
    await enqueue(database, delay=timedelta(hours=1))
    await database.call("pause_queue", "default", None)
    assert await reasons(database, 1) == ["scheduled", "paused", "unserved"]


async def test_a_suspect_says_how_often_and_what_comes(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await worker.given()
    await expire(database, 1)
    await database.call("reap_jobs")
    assert (await because(database, 1, "suspect"))["explanation"] == (
        "1 process(es) died while they had it; a worker takes one such job at a time, and at 3 it is put in quarantine"
    )


async def test_workers_that_are_all_paused(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await database.call("heartbeat_worker", worker.incarnation, 0, "paused", True)
    await enqueue(database)
    assert (await because(database, 1, "paused_workers"))[
        "explanation"
    ] == "the 1 live worker(s) that serve it are paused"
    await SqlWorker(database, "w2").register()
    assert "paused_workers" not in await reasons(database, 1)


async def test_workers_that_all_back_off(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await database.call("heartbeat_worker", worker.incarnation, 0, "ready", True, None, 0.9, 0.1, "memory 90 %", 600.0)
    await enqueue(database)
    row = await because(database, 1, "backing_off")
    assert row["explanation"] == "the 1 worker(s) that serve it claim nothing for now: w1: memory 90 %"
    assert row["until"] is not None
    assert await reasons(database, 1) == ["backing_off"]
    await SqlWorker(database, "w2").register()
    assert "backing_off" not in await reasons(database, 1)


async def test_only_workers_that_are_ready_and_were_heard_of_are_alive(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        ready, silent, draining, stopped = (SqlWorker(connection, name) for name in ("a", "b", "c", "d"))
        for each in (silent, ready, draining, stopped):
            await each.register(kinds=["k"])
        await freeze(connection, "2026-03-01 12:03:01Z")
        await connection.call("heartbeat_worker", ready.incarnation, 0, "ready", True)
        await connection.call("heartbeat_worker", draining.incarnation, 0, "draining", True)
        await connection.call("stop_worker", stopped.incarnation)
        for kind in ("k", "other"):
            await enqueue(connection, kind)
        assert (await facts(connection, 1, "idle_worker"))["workers"] == ["a"]
        assert await facts(connection, 2, "unserved") == {
            "live_workers": 1,
            "serving_queue": 1,
            "serving_kind": 0,
            "draining_workers": 0,
        }


async def test_workers_that_drain_are_alive_and_take_no_more_jobs(database: Database) -> None:
    workers = [SqlWorker(database, f"w{number}") for number in range(3)]
    for each in workers:
        await each.register(kinds=["k"])
        await database.call("heartbeat_worker", each.incarnation, 0, "draining", True)
    for kind in ("k", "other"):
        await enqueue(database, kind)
    assert (await because(database, 1, "unserved"))["explanation"] == (
        "the 3 worker(s) that serve it are draining and take no more jobs"
    )
    assert (await facts(database, 1, "unserved"))["draining_workers"] == 3
    assert (await because(database, 2, "unserved"))["explanation"] == (
        "no live worker serves it: all 3 are draining and take no more jobs"
    )
    await SqlWorker(database, "w4").register(kinds=["k"])
    assert await reasons(database, 1) == ["idle_worker"]


async def test_workers_that_are_paused_elsewhere_do_not_count(database: Database) -> None:
    for name in ("paused", "paused elsewhere", "ready elsewhere"):
        worker = SqlWorker(database, name)
        await worker.register(queues=["q"] if name == "paused" else ["r"])
        if name != "ready elsewhere":
            await database.call("heartbeat_worker", worker.incarnation, 0, "paused", True)
    await enqueue(database, queue="q")
    assert await facts(database, 1, "paused_workers") == {"live_workers": 3, "paused_workers": 1}


async def test_a_database_that_can_only_be_read_starts_nothing(fresh_database_url: str) -> None:
    """Workers wait, and it looked as if nothing were in the way."""
    async with open_database(fresh_database_url, timeout=PATIENCE) as writable:
        await SqlWorker(writable).register()
        await enqueue(writable)
        await writable.execute("set default_transaction_read_only = on")
        assert await reasons(writable, 1) == ["idle_worker"]  # of this session alone
        await writable.execute("reset default_transaction_read_only")
        name = await writable.fetch("select quote_ident(current_database())")
        await writable.execute(f"alter database {name[0][0]} set default_transaction_read_only = on")
    async with open_database(fresh_database_url, timeout=PATIENCE) as database:
        assert await reasons(database, 1) == ["read_only"]
        row = await because(database, 1, "read_only")
        assert row["explanation"] == "the database can only be read: default_transaction_read_only is on"
