from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def test_a_job_that_a_worker_has_fetched(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    await worker.claim()
    row = await because(database, 1, "claimed")
    assert row["explanation"].startswith("worker w1 has fetched it at ")
    assert row["until"] is None


async def test_a_running_job_with_its_progress(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    await worker.start(await worker.claim())
    assert "% done" not in (await because(database, 1, "running"))["explanation"]
    await database.call("report_progress", worker.incarnation, [1], [1], [0.254], ["page 3 of 12"])
    assert (await because(database, 1, "running"))["explanation"].endswith(", 25 % done (page 3 of 12)")
    found = await facts(database, 1, "running")
    assert (found["worker_id"], found["attempt"], found["fraction"]) == ("w1", 1, 0.254)


async def test_the_progress_of_an_earlier_attempt_is_not_shown(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    claimed = await worker.claim()
    await database.call("report_progress", worker.incarnation, [1], [1], [0.5], ["half"])
    await worker.release(claimed)
    await worker.start(await worker.claim())
    assert "half" not in (await because(database, 1, "running"))["explanation"]


async def test_a_job_whose_lease_has_run_out_is_stale(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    await worker.claim()
    await expire(database, 1)
    assert await reasons(database, 1) == ["stale"]
    row = await because(database, 1, "stale")
    assert row["explanation"].startswith("the lease of attempt 1 on worker w1 ran out at ")
    assert row["until"] is not None


async def test_a_worker_that_went_silent_is_named_before_the_lease_runs_out(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection, "ada")
        await freeze(connection, "2026-03-01 12:00Z")
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
    await enqueue(database)
    await worker.claim()
    await database.call("stop_worker", worker.incarnation)
    assert "but that worker stopped at" in (await because(database, 1, "claimed"))["explanation"]
