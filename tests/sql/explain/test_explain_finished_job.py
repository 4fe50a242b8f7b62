from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def test_a_completed_job(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await freeze(connection, "2026-03-01 12:00Z")
        await enqueue(connection)
        worker = SqlWorker(connection, "ada")
        await worker.complete(await worker.claim())
        row = await because(connection, 1, "completed")
    assert (row["explanation"], row["until"]) == ("it completed at 2026-03-01 12:00:00+00 in attempt 1", None)
    assert (await facts(database, 1, "completed"))["worker_id"] == "ada"


async def test_a_failed_job_with_its_error_and_what_to_do(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, max_attempts=2)
    await worker.release(await worker.claim())
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
