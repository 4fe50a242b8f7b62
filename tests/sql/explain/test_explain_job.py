"""Every reason in a situation that it comes from; what keeps a job waiting is tested in files of its own, too."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob
from tests.support.sql_chains import enqueue_blocked
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue, snapshot
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_waits import freeze, frozen, open_transaction
from tests.support.sql_worker import SqlWorker


async def test_a_job_that_does_not_exist_is_no_job(database: Database) -> None:
    with pytest.raises(UnknownJob):
        await database.call("explain_job", 7)


async def test_with_an_idle_worker_nothing_is_in_its_way(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await worker.claim()
    await enqueue(database)
    row = await because(database, 1, "idle_worker")
    assert (
        row["explanation"]
        == "nothing is in its way: 1 worker(s) with a free slot serve it and take it with their next poll"
    )
    assert json.loads(row["facts"]) == {"workers": ["w1"]}
    assert await reasons(database, 1) == ["idle_worker"]


async def test_every_state_has_an_answer(database: Database, worker: SqlWorker) -> None:
    for number in range(2):
        await enqueue(database, kind="line", key="k", priority=-number)
    await enqueue(database, kind="later", delay=timedelta(seconds=60))
    await enqueue(database, kind="running")
    await worker.start(await worker.claim(kinds=["running"]))
    await enqueue_blocked(database, [3])
    for kind in ("completed", "failed", "cancelled"):
        await enqueue(database, kind=kind)
    await worker.complete(await worker.claim(kinds=["completed"]))
    await worker.fail(await worker.claim(kinds=["failed"]), discard=[True])
    await database.call("cancel_job", 8)
    firsts = {row["state"]: (await reasons(database, row["id"]))[0] for row in await database.call("list_jobs")}
    assert firsts == {
        "pending": "unserved",
        "waiting": "unserved",
        "scheduled": "scheduled",
        "running": "running",
        "blocked": "blocked",
        "completed": "completed",
        "failed": "failed",
        "cancelled": "cancelled",
    }


async def test_a_deadline_comes_last_and_not_for_what_has_ended(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, deadline=datetime(2999, 1, 1, tzinfo=UTC))
    row = await because(database, 1, "deadline")
    assert row["explanation"] == "unless it has ended by 2999-01-01 00:00:00+00, it fails"
    assert row["until"] == datetime(2999, 1, 1, tzinfo=UTC)
    assert (await reasons(database, 1))[-1] == "deadline"
    claimed = await worker.claim()
    assert await reasons(database, 1) == ["claimed", "deadline"]
    await worker.complete(claimed)
    assert await reasons(database, 1) == ["completed"]


async def test_a_link_says_which_chain_it_continues(database: Database, worker: SqlWorker) -> None:
    await worker.continue_with(await worker.given(), [{"next": {"kind": "second"}}])
    assert await reasons(database, 1) == ["completed"]
    assert (await because(database, 1, "completed"))["explanation"].endswith("and job 2 continues its chain")
    assert await reasons(database, 2) == ["unserved", "chain"]
    assert await facts(database, 2, "chain") == {"chain_id": 1, "chain_position": 1}


async def test_asking_changes_nothing_and_waits_for_nobody(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    for _ in range(2):
        await enqueue(database, key="k")
    await enqueue_blocked(database, [1])
    before = await snapshot(database)
    async with open_transaction(database, "owner") as owner:
        await owner.execute(
            "select 1 from leasehold.jobs for update; select 1 from leasehold.workers for update;"
            "lock table leasehold.jobs in exclusive mode; select pg_advisory_xact_lock(leasehold.key_lock('k'))"
        )
        for job_id in (1, 2, 3):
            assert await reasons(database, job_id)
    assert await snapshot(database) == before


async def test_times_are_in_utc_whatever_the_session_says(database: Database) -> None:
    async with database.reserve("elsewhere") as connection:
        await connection.execute("set timezone = 'Asia/Tokyo'")
        await freeze(connection, "2026-03-01 12:00Z")
        await enqueue(connection, delay=timedelta(seconds=60))
        row = await because(connection, 1, "scheduled")
        assert row["explanation"] == "its time is 2026-03-01 12:01:00+00, in 60 s"


# What has finished.


async def test_a_completed_job(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue(connection)
        worker = SqlWorker(connection, "ada")
        await worker.complete(await worker.claim())
        row = await because(connection, 1, "completed")
    assert (row["explanation"], row["until"]) == ("it completed at 2026-03-01 12:00:00+00 in attempt 1", None)
    assert (await facts(database, 1, "completed"))["worker_id"] == "ada"


async def test_a_failed_job_with_its_error_and_what_to_do(database: Database, worker: SqlWorker) -> None:
    await worker.release(await worker.given(max_attempts=2))
    await worker.fail(await worker.claim(), retry_in=[0.0])
    await worker.fail(await worker.claim())
    text = (await because(database, 1, "failed"))["explanation"]
    assert text.endswith("in attempt 3, of which 2 of 2 count (ValueError: boom); a retry runs it again")
    assert "traceback" not in (await facts(database, 1, "failed"))["error"]


async def test_a_cancelled_job_with_the_reason(database: Database) -> None:
    for _ in range(2):
        await enqueue(database)
    await database.call("cancel_job", 1, "wrong shop")
    await database.call("cancel_job", 2)
    assert "wrong shop; a retry runs it after all" in (await because(database, 1, "cancelled"))["explanation"]
    assert await reasons(database, 2) == ["cancelled"]
    assert (await because(database, 2, "cancelled"))["explanation"] is not None


async def test_an_error_of_any_shape_still_has_a_sentence(database: Database, worker: SqlWorker) -> None:
    for error in ("null", "{}", '"text"', "[1]"):
        job_id = await enqueue(database, max_attempts=1)
        job = await worker.claim_one()
        await database.call("fail_jobs", worker.incarnation, [job_id], [job["attempt"]], [error])
        assert "a retry runs it again" in (await because(database, job_id, "failed"))["explanation"]


# What a worker holds.


async def test_a_job_that_a_worker_has_fetched(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    row = await because(database, 1, "claimed")
    assert row["explanation"].startswith("worker w1 has fetched it at ")
    assert row["until"] is None


async def test_a_running_job_with_its_progress(database: Database, worker: SqlWorker) -> None:
    await worker.start(await worker.given())
    assert "% done" not in (await because(database, 1, "running"))["explanation"]
    await database.call("report_progress", worker.incarnation, [1], [1], [0.254], ["page 3 of 12"])
    assert (await because(database, 1, "running"))["explanation"].endswith(", 25 % done (page 3 of 12)")
    found = await facts(database, 1, "running")
    assert (found["worker_id"], found["attempt"], found["fraction"]) == ("w1", 1, 0.254)


async def test_the_progress_of_an_earlier_attempt_is_not_shown(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await database.call("report_progress", worker.incarnation, [1], [1], [0.5], ["half"])
    await worker.release(claimed)
    await worker.start(await worker.claim())
    assert "half" not in (await because(database, 1, "running"))["explanation"]


async def test_a_job_whose_lease_has_run_out_is_stale(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    await expire(database, 1)
    assert await reasons(database, 1) == ["stale"]
    row = await because(database, 1, "stale")
    assert row["explanation"].startswith("the lease of attempt 1 on worker w1 ran out at ")
    assert row["until"] is not None


async def test_a_worker_that_went_silent_is_named_before_the_lease_runs_out(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        worker = SqlWorker(connection, "ada")
        await worker.register()
        await enqueue(connection)
        await worker.start(await worker.claim(lease=600))
        await freeze(connection, "2026-03-01 12:02Z")
        assert "nothing was heard" not in (await because(connection, 1, "running"))["explanation"]
        await freeze(connection, "2026-03-01 12:05Z")
        row = await because(connection, 1, "running")
        assert row["explanation"] == (
            "attempt 1 runs on worker ada since 2026-03-01 12:00:00+00; but nothing was heard of that worker since "
            "2026-03-01 12:00:00+00, and when the lease runs out at 2026-03-01 12:10:00+00 the job is taken back"
        )
        assert row["until"] == datetime(2026, 3, 1, 12, 10, tzinfo=UTC)


async def test_a_worker_that_stopped_and_holds_it_still(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await worker.given()
    await database.call("stop_worker", worker.incarnation)
    assert "but that worker stopped at" in (await because(database, 1, "claimed"))["explanation"]
