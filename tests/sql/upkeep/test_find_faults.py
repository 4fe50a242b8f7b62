"""What an operator can do to the tables by hand, and what an audit then says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.database import Database
from tests.support.sql_chains import enqueue_blocked, make_circle
from tests.support.sql_jobs import empty, enqueue, enqueue_many, snapshot
from tests.support.sql_reasons import faults
from tests.support.sql_schedules import create as create_schedule
from tests.support.sql_schedules import set_plan
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker

Faults = list[tuple[str, str]]


async def explanation(database: Database) -> str:
    (row,) = await database.call("find_faults", timedelta(minutes=1))
    return row["explanation"]


async def make_everything(database: Database, worker: SqlWorker) -> None:
    """Jobs in every state and chains of every kind, by the functions alone."""
    await database.call("ensure_partitions")
    await worker.register()
    await enqueue(database, "running")
    await worker.start(await worker.claim(kinds=["running"]))
    await enqueue_many(database, [{"kind": "line", "key": "k"}] * 3 + [{"kind": "later", "delay": 60}])
    await enqueue_blocked(database, [1])
    for kind in ("done", "failing", "chain"):
        await enqueue(database, kind)
    await worker.complete(await worker.claim(kinds=["done"]))
    await worker.fail(await worker.claim(kinds=["failing"]), discard=[True])
    await worker.continue_with(
        await worker.claim(kinds=["chain"]), [{"next": {"kind": "more", "deadline": "2999-01-01T00:00:00Z"}}]
    )
    await database.call("cancel_job", 4)


async def test_what_the_functions_leave_is_in_order(database: Database, worker: SqlWorker) -> None:
    await make_everything(database, worker)
    before = await snapshot(database)
    assert await faults(database) == []
    assert await snapshot(database) == before


async def test_ready_jobs_of_a_kind_that_nobody_serves(database: Database) -> None:
    await SqlWorker(database).register(kinds=["other"])
    await enqueue_many(database, [{"kind": "parse", "queue": "docs"}] * 2)
    await database.execute("update leasehold.jobs set run_at = now() - interval '20 s'")
    assert await faults(database) == []
    await database.execute("update leasehold.jobs set run_at = '2020-01-01Z'")
    assert await faults(database) == [("unserved", "kind parse")]
    assert await explanation(database) == (
        "2 of its jobs are ready in queue docs, the first since 2020-01-01 00:00:00+00, "
        "and no live worker has both the queue and the kind"
    )
    await database.call("pause_queue", "docs")
    assert await faults(database) == []


async def test_a_held_job_that_no_reaper_takes_back(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '20 s'")
    assert await faults(database) == []
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '70 s'")
    assert await faults(database) == [("held_by_nobody", "job 1")]
    assert "and no reaper has taken it back" in await explanation(database)


async def test_a_due_job_that_no_scheduler_makes_claimable(database: Database) -> None:
    await enqueue(database, delay=timedelta(hours=1))
    assert await faults(database) == []
    await database.execute("update leasehold.jobs set run_at = now() - interval '70 s'")
    assert await faults(database) == [("overdue", "job 1")]


async def test_a_deadline_that_nobody_enforces(database: Database) -> None:
    await enqueue(database)
    await database.execute("update leasehold.jobs set deadline = now() - interval '70 s'")
    assert await faults(database) == [("deadline_missed", "job 1")]


async def test_a_line_whose_first_job_was_deleted(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k", "priority": -n} for n in range(3)])
    await database.execute("delete from leasehold.jobs where id = 1")
    assert await faults(database) == [("waiting_for_nobody", "job 2")]


async def test_a_blocked_job_whose_edges_are_gone(database: Database, subtests: pytest.Subtests) -> None:
    for edit in ["delete from leasehold.job_blockers", "update leasehold.job_blockers set closed_at = now()"]:
        await empty(database)
        with subtests.test(edit=edit):
            await enqueue_blocked(database, [await enqueue(database)])
            assert await faults(database) == []
            await database.execute(edit)
            assert await faults(database) == [("blocked_by_nothing", "job 2")]


async def test_a_blocked_job_whose_chain_failed_or_is_gone(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await enqueue_blocked(database, [1, 2])
    await worker.fail((await worker.claim(1)), discard=[True])
    assert await faults(database) == [("blocked_for_ever", "job 3")]
    assert await explanation(database) == "chain 1, for which it waits, has failed"
    await database.execute("delete from leasehold.finished_jobs")
    assert await explanation(database) == "chain 1, for which it waits, is gone"


async def test_chains_that_wait_for_each_other(database: Database, worker: SqlWorker) -> None:
    await make_circle(database, worker, 2)
    await enqueue_blocked(database, [1])
    assert await faults(database) == [("waits_in_a_circle", "job 1"), ("waits_in_a_circle", "job 2")]
    told = [row["explanation"] for row in await database.call("find_faults", timedelta(minutes=1))]
    assert [text.partition(", maybe")[0] for text in told] == [
        "its chain 1 waits for chain 2, which waits for it in turn",
        "its chain 2 waits for chain 1, which waits for it in turn",
    ]
    await database.call("cancel_job", 2)
    assert await faults(database) == [("blocked_for_ever", "job 1")]


async def test_a_blocked_job_that_somebody_made_pending(database: Database) -> None:
    await enqueue_blocked(database, [await enqueue(database)])
    await database.execute("update leasehold.jobs set state = 'pending' where id = 2")
    assert await faults(database) == [("unheeded_blocker", "job 2")]


async def test_edges_of_a_job_that_was_deleted(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await enqueue_blocked(database, [1, 2])
    await database.execute("delete from leasehold.jobs where id = 3")
    assert await faults(database) == [("edge_of_nobody", "job 3")]
    assert (await explanation(database)).startswith("2 edge(s) say")


async def test_edges_of_a_job_that_was_cancelled_are_kept_for_its_retry(database: Database) -> None:
    await enqueue_blocked(database, [await enqueue(database)])
    await database.call("cancel_job", 2)
    assert await faults(database) == []


async def test_a_chain_whose_last_job_was_deleted(database: Database, worker: SqlWorker) -> None:
    await worker.continue_with(await worker.given(), [{"next": {"kind": "a"}}])
    await database.execute("delete from leasehold.jobs")
    assert await faults(database) == [("succession_lost", "job 1")]


async def test_a_job_with_more_attempts_than_it_may_have_unless_somebody_allowed_it_fewer(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "max_attempts": 3}] * 5)
    await database.execute(
        "update leasehold.jobs set attempt = 904, spared_attempts = 901 where id = 1;"
        "update leasehold.jobs set attempt = 4 where id = 2; update leasehold.jobs set spared_attempts = 1 where id = 3;"
        "update leasehold.jobs set attempt = 2 where id = 4"
    )
    await database.call("edit_job", 4, max_attempts=1)
    assert await faults(database) == [("attempts_absurd", "job 2"), ("attempts_absurd", "job 3")]


async def test_a_chain_with_two_open_jobs(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await database.execute("update leasehold.jobs set chain_id = 1, chain_position = 1 where id = 2")
    assert await faults(database) == [("two_tails", "job 2")]


async def test_a_finished_job_that_somebody_put_back(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given())
    await database.execute(
        "insert into leasehold.jobs (id, created_at, run_at, state, kind, queue, args) "
        "values (1, now(), now(), 'pending', 'a', 'q', '{}')"
    )
    assert await faults(database) == [("open_and_finished", "job 1")]
    assert await explanation(database) == "it is pending, and finished_jobs has it as completed"


async def test_partitions_dropped_detached_and_missed(fresh_database: Database) -> None:
    database = fresh_database
    await database.call("ensure_partitions")
    (row,) = await database.fetch("select to_char(now() at time zone 'UTC', 'YYYYMMDD') as today")
    today = row["today"]
    await database.execute(
        f"drop table leasehold.job_events_{today};"
        f"alter table leasehold.finished_jobs detach partition leasehold.finished_jobs_{today};"
    )
    job_id = await enqueue(database)
    await database.call("cancel_job", job_id)
    await database.call("retry_job", job_id)
    await database.call("cancel_job", job_id)
    assert sorted(await faults(database)) == [
        ("partition_missing", f"job_events_{today}"),
        ("partition_orphaned", f"finished_jobs_{today}"),
        ("rows_in_default_partition", "finished_jobs_default"),
        ("rows_in_default_partition", "job_events_default"),
    ]


async def test_a_tick_that_no_scheduler_fires(database: Database) -> None:
    row = await create_schedule(database)
    await set_plan(database, row, "2999-01-01T00:00:00Z")
    assert await faults(database) == []
    await database.execute(
        "update leasehold.schedules set next_run_at = now() - interval '70 s', last_error = 'no table'"
    )
    assert await faults(database) == [("tick_overdue", "schedule s")]
    assert "its last error: no table" in await explanation(database)
    assert [row["is_repaired"] for row in await database.call("repair_jobs")] == [False]
    await database.call("disable_schedule", "s")
    assert await faults(database) == []


async def test_a_schedule_that_no_scheduler_plans(database: Database) -> None:
    await create_schedule(database)
    assert await faults(database) == []
    await database.execute("update leasehold.schedules set updated_at = now() - interval '70 s'")
    assert await faults(database) == [("schedule_unplanned", "schedule s")]


async def test_rows_of_past_days_in_a_default_partition_are_nobodys_fault(
    database: Database, worker: SqlWorker
) -> None:
    await worker.complete(await worker.given())
    await database.execute("update leasehold.finished_jobs set finished_at = now() - interval '3 years'")
    assert await faults(database) == []


async def test_looking_waits_for_nobody_and_nobody_for_it(database: Database, worker: SqlWorker) -> None:
    await make_everything(database, worker)
    async with open_transaction(database, "owner") as owner, open_transaction(database, "auditor") as auditor:
        await owner.execute(
            "lock table leasehold.jobs, leasehold.finished_jobs, leasehold.job_blockers in exclusive mode"
        )
        assert await auditor.call("audit_jobs") == []
        await owner.execute("commit")
        await database.call("cancel_job", 2)
        await database.call("ensure_partitions", 9)
