from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.sql.explain.test_measure_rates import finish
from tests.support.sql_jobs import enqueue, enqueue_many, pile_up
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_waits import frozen
from tests.support.sql_work import UNDISTURBED, measured
from tests.support.sql_worker import SqlWorker


async def beat(worker: SqlWorker, active: int) -> None:
    await worker.caller.call("heartbeat_worker", worker.incarnation, active, "ready", True)


async def test_jobs_before_it_are_counted(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await enqueue_many(database, [{"kind": "a"}] * 4)
    row = await because(database, 4, "behind")
    assert row["explanation"] == "3 job(s) of its queue and kind are before it"
    assert await facts(database, 4, "behind") == {
        "jobs": 3,
        "other_jobs": 0,
        "per_second": None,
        "live_workers": 1,
        "slots": 3,
        "active_jobs": 0,
        "stray_handlers": 0,
    }
    assert await reasons(database, 4) == ["behind"]


async def test_with_a_rate_there_is_a_time_to_expect_it_at(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await SqlWorker(connection).register()
        await finish(connection, 11, seconds_apart=0.5)
        await enqueue_many(connection, [{"kind": "k", "queue": "q"}] * 20)
        row = (await connection.call("explain_job", 20))[-1]
    assert row["reason"] == "expected_start"
    assert row["explanation"] == "at the present rate of 2.00 jobs a second it starts in about 10.0 s"
    assert row["until"] == datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)


async def test_other_jobs_count_where_the_same_workers_take_them_first(database: Database, worker: SqlWorker) -> None:
    await worker.register(queues=["default"], kinds=["a", "b"])
    await enqueue_many(database, [{"kind": "b"}] * 3 + [{"kind": "c"}] + [{"kind": "b", "queue": "other"}])
    await enqueue(database, "a")
    assert (await because(database, 6, "behind"))["explanation"] == (
        "0 job(s) of its queue and kind are before it, and at least 3 others that the same workers serve"
    )
    await enqueue(database, "a", priority=1)
    assert "behind" not in await reasons(database, 7)


async def test_jobs_of_a_paused_queue_are_not_before_anybody(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await enqueue(database, queue="slow")
    await enqueue(database)
    assert "behind" in await reasons(database, 2)
    await database.call("pause_queue", "slow", None)
    assert await reasons(database, 2) == ["idle_worker"]


async def test_it_is_next_and_every_slot_is_busy(database: Database, worker: SqlWorker) -> None:
    await worker.register(slots=2)
    claimed = await worker.given_all([{"kind": "a"}] * 3)  # one of them waits in the worker
    await beat(worker, 0)  # what it said last is as old as its heartbeat, and does not count
    await enqueue(database)
    assert (await because(database, 4, "busy"))["explanation"] == (
        "it is the next one: the 1 worker(s) that serve it run 2 job(s) in 2 slot(s) and take it when one is free"
    )
    another = SqlWorker(database, "another")
    await another.register(kinds=["other"])
    assert await reasons(database, 4) == ["busy"]
    await worker.complete(claimed[:2])
    await beat(worker, 2)
    assert await facts(database, 4, "idle_worker") == {"workers": ["w1"]}


async def test_a_slot_whose_handler_runs_on_without_its_job_is_not_free(database: Database, worker: SqlWorker) -> None:
    await worker.register(slots=2)
    await worker.given_all([{"kind": "a"}] * 2)
    await database.call("heartbeat_worker", worker.incarnation, 2, "ready", True)
    for job_id in (1, 2):
        await database.call("cancel_job", job_id)
    await enqueue(database)
    assert await reasons(database, 3) == ["idle_worker"]  # it ran two at its heartbeat, which says nothing of now
    await database.call("heartbeat_worker", worker.incarnation, 2, "ready", True, stray_handlers=2)
    assert (await because(database, 3, "busy"))["explanation"] == (
        "it is the next one: the 1 worker(s) that serve it run 0 job(s) in 2 slot(s) and take it when one is free; "
        "2 of their slots are held by handlers that still run although their jobs are gone (see leasehold workers stacks)"
    )
    assert (await facts(database, 3, "busy"))["stray_handlers"] == 2
    await enqueue(database)
    assert "held by handlers that still run" in (await because(database, 4, "behind"))["explanation"]
    await database.call("heartbeat_worker", worker.incarnation, 1, "ready", True, stray_handlers=1)
    assert await reasons(database, 3) == ["idle_worker"]
    assert "still run" not in (await because(database, 4, "behind"))["explanation"]


async def test_a_job_whose_row_another_session_holds_names_that_session(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await enqueue(database)
    async with database.reserve("editor") as editor:
        await editor.execute("begin")
        await editor.fetch("select from leasehold.jobs where id = 1 for update")
        [[pid]] = await editor.fetch("select pg_backend_pid()")
        row = await because(database, 1, "locked")
        assert row["explanation"].startswith(f'session {pid} (application "leasehold editor", host ')
        assert " holds its row since " in row["explanation"]
        assert row["explanation"].endswith(", and no worker takes it before that transaction ends")
        assert await reasons(database, 1) == ["locked"]
        await editor.execute("rollback")
    assert await reasons(database, 1) == ["idle_worker"]


async def test_a_job_whose_queue_another_session_keeps_from_all_claims_names_that_session(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    for queue in ("mail", "other"):
        await enqueue(database, queue=queue, kind=queue)
    await database.execute("update leasehold.jobs set priority = 1 where id = 2")
    async with database.reserve("setter") as setter, frozen(database, "2100-01-01 12:00Z") as later:
        await SqlWorker(later).register(kinds=["mail"])
        await SqlWorker(later, "w2").register(kinds=["other"])
        await setter.execute("begin")
        await setter.call("set_limit", "mail", max_running=5)
        [[pid]] = await setter.fetch("select pg_backend_pid()")
        row = await because(later, 1, "locked")
        assert row["explanation"].startswith(f'session {pid} (application "leasehold setter", host ')
        assert " holds the lock of queue mail since " in row["explanation"]
        assert (await facts(later, 1, "locked"))["row_held_by"] is None
        assert await SqlWorker(later).claim(kinds=["mail"]) == []
        assert await reasons(later, 2) == ["idle_worker"]
        await setter.execute("commit")
        assert await reasons(later, 1) == ["idle_worker"]
        await setter.execute("begin")
        await setter.fetch(
            "select pg_advisory_xact_lock(leasehold.queue_lock('mail'))"
        )  # as a claim from a limited queue
        assert await reasons(later, 1) == ["locked"]
        await setter.execute("rollback")


async def test_a_transaction_that_has_just_begun_to_claim_from_a_limited_queue_is_not_named(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    await database.call("set_limit", "default", max_running=5)
    await enqueue(database)
    async with database.reserve("claimer") as claimer, frozen(database, "2020-01-01 12:00Z") as earlier:
        await SqlWorker(earlier, "w2").register()
        await claimer.execute("begin")
        await claimer.fetch("select pg_advisory_xact_lock(leasehold.queue_lock('default'))")
        assert await reasons(earlier, 1) == ["idle_worker"]
        await claimer.execute("rollback")


async def test_no_time_is_expected_where_jobs_of_other_kinds_are_before_it(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await SqlWorker(connection).register()
        await finish(connection, 11, seconds_apart=0.5)
        await enqueue_many(connection, [{"kind": "other", "queue": "q"}] * 20 + [{"kind": "k", "queue": "q"}])
        assert await reasons(connection, 21) == ["behind"]


async def test_jobs_of_a_queue_whose_max_running_is_used_up_are_not_before_anybody(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    await database.call("set_limit", "slow", max_running=1)
    await worker.given_all([{"kind": "a", "queue": "slow"}] * 3)
    await enqueue(database)
    assert await reasons(database, 4) == ["idle_worker"]
    await database.call("set_limit", "slow", max_running=2)
    assert (await facts(database, 4, "behind"))["other_jobs"] == 2


async def test_a_queue_of_any_length_costs_the_same(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    await pile_up(database, 30_000, "a")
    await pile_up(database, 3_000, "b", priority=1)
    await SqlWorker(database).register()
    async with database.reserve("measured") as connection:
        for job_id, most in ((1, 4_000), (15_000, 14_000), (30_000, 14_000)):
            await connection.execute("begin")
            async with measured(connection) as work:
                found = await facts(connection, job_id, "behind")
            assert (found["jobs"], found["other_jobs"]) == (min(job_id - 1, 10_000), 1_000)
            assert (work.seq_scans, work.jobs_fetched < most) == (0, True)
            await connection.execute("rollback")
    assert (await because(database, 15_000, "behind"))["explanation"].startswith("at least 10000 job(s) of its queue")
