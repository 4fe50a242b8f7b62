from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, job
from tests.support.sql_worker import SqlWorker


async def test_a_job_is_found_finished_or_not_with_the_same_columns(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given_all([{"kind": "a"}] * 2, 1), ["done"])
    finished, unfinished = await job(database, 1), await job(database, 2)
    assert list(finished.keys()) == list(unfinished.keys())
    assert (finished["state"], finished["output"], finished["id"]) == ("completed", '"done"', 1)
    assert (unfinished["state"], unfinished["finished_at"], unfinished["id"]) == ("pending", None, 2)


async def test_there_is_no_row_for_a_job_that_is_not_there(database: Database) -> None:
    assert await database.call("get_job", 1) == []
    assert await database.call("get_job", None) == []


async def test_it_is_one_row_and_the_present_one_when_an_id_was_used_twice(
    database: Database, worker: SqlWorker
) -> None:
    await worker.complete(await worker.given("old"))
    await database.execute("alter sequence leasehold.jobs_id_seq restart")
    await enqueue(database, "new")
    assert (await job(database, 1))["kind"] == "new"
