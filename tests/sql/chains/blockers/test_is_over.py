from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_chains import ended
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_worker import SqlWorker

Answers = tuple[object, object]


async def is_over(database: Database, chain_id: int) -> Answers:
    """For who waits for its completion, and for who waits for any end."""
    until_completed = await database.call_value("is_over", chain_id, None)
    return until_completed, await database.call_value("is_over", chain_id, True)


async def test_only_when_the_last_job_has_completed(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    answers = [await is_over(database, 1)]
    await worker.continue_with(await worker.claim(), [{"next": {"kind": "b"}}])
    answers.append(await is_over(database, 1))
    await worker.complete(await worker.claim())
    answers.append(await is_over(database, 1))
    assert answers == [(False, False), (False, False), (True, True)]


async def test_one_that_ended_otherwise_is_so_for_those_who_wait_for_any_end(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for end in ["failed", "cancelled"]:
        await empty(database)
        with subtests.test(end=end):
            await ended(database, worker, end)
            assert await is_over(database, 1) == (False, True)


async def test_what_is_no_chain_is_not(database: Database) -> None:
    assert await is_over(database, 404) == (False, False)
