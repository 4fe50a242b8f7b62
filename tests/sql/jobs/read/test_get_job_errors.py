from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_worker import SqlWorker


async def errors(database: Database, job_id: int = 1) -> list[tuple[int, str, str]]:
    rows = await database.call("get_job_errors", job_id)
    return [(row["attempt"], row["type"], row["message"]) for row in rows]


async def test_every_attempt_is_kept_with_its_traceback_and_no_retry_loses_one(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database, max_attempts=2)
    for number in (1, 2, 3):
        claimed = await worker.claim()
        error = {"type": f"Error{number}", "message": f"message {number}", "traceback": f"lines {number}"}
        await worker.fail(claimed, error, retry_in=[0.0])
        if number == 2:
            await database.call("retry_job", 1)
    rows = await database.call("get_job_errors", 1)
    assert [tuple(row)[0:1] + tuple(row)[2:] for row in rows] == [
        (number, "w1", f"Error{number}", f"message {number}", f"lines {number}") for number in (1, 2, 3)
    ]
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)


async def test_a_lease_that_ran_out_is_told_once(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for max_attempts in [1, 5]:
        await empty(database)
        with subtests.test(max_attempts=max_attempts):
            await worker.given(max_attempts=max_attempts)
            await expire(database, 1)
            await database.call("reap_jobs")
            ((attempt, kind, _),) = await errors(database)
            assert (attempt, kind) == (1, "LeaseExpired")


async def test_a_cancelled_job_did_not_fail(database: Database) -> None:
    await enqueue(database)
    await database.call("cancel_job", 1)
    assert await errors(database) == []


async def test_a_job_that_is_not_there_has_no_errors_either(database: Database) -> None:
    with pytest.raises(UnknownJob, match="there is no job 9"):
        await errors(database, 9)
