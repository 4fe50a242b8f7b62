from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_only_when_the_last_job_has_completed(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    answers = [await database.call_value("is_completed", 1)]
    await worker.continue_with(await worker.claim(), [{"next": {"kind": "b"}}])
    answers.append(await database.call_value("is_completed", 1))
    await worker.complete(await worker.claim())
    answers.append(await database.call_value("is_completed", 1))
    assert answers == [False, False, True]


@pytest.mark.parametrize("end", ["failed", "cancelled"])
async def test_a_chain_that_ended_otherwise_has_not(database: Database, worker: SqlWorker, end: str) -> None:
    await enqueue(database)
    if end == "failed":
        await worker.fail(await worker.claim(), discard=[True])
    else:
        await database.call("cancel_job", 1)
    assert await database.call_value("is_completed", 1) is False


async def test_what_is_no_chain_has_not(database: Database) -> None:
    assert await database.call_value("is_completed", 404) is False
