from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_worker import SqlWorker


async def test_the_first_job_of_a_chain_stands_for_it(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for is_finished in [False, True]:
        await empty(database)
        with subtests.test(is_finished=is_finished):
            await enqueue(database)
            if is_finished:
                await worker.complete(await worker.claim())
            assert await database.call_value("refuse_blocker", 1) is None


async def test_a_later_job_of_a_chain_is_refused_with_the_id_to_give(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for is_finished in [False, True]:
        await empty(database)
        with subtests.test(is_finished=is_finished):
            await enqueue(database)
            await worker.continue_with(await worker.claim(), [{"next": {"kind": "b"}}])
            if is_finished:
                await worker.complete(await worker.claim())
            complaint = await database.call_value("refuse_blocker", 2)
            assert complaint == "blocker 2 is not the first job of its chain; give the chain, 1"


async def test_what_is_no_job_is_refused(database: Database) -> None:
    assert await database.call_value("refuse_blocker", 404) == "blocker 404 is no job"
