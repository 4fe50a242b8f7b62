"""What a claim reads while an old snapshot keeps the entries of all jobs that were claimed before."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_horizon import bury, count_marks, old_snapshot, work_of_claim
from tests.support.sql_jobs import enqueue, pile_up, state
from tests.support.sql_work import UNDISTURBED, statistics
from tests.support.sql_worker import SqlWorker

DEAD = 10_000
BATCH = 100


@pytest.mark.parametrize("known", statistics("jobs"))
async def test_a_claim_behind_10000_dead_entries_reads_no_more_than_a_few_batches(
    fresh_database: Database, known: str
) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    await database.execute(statistics("jobs")[known])
    async with old_snapshot(database):
        await bury(database, DEAD)
        await bury(database, 2000, "other", priority=3)
        await pile_up(database, 20 * BATCH, "plain", minutes=1)
        await work_of_claim(database, BATCH)
        for _ in range(10):
            got, work = await work_of_claim(database, BATCH)
            assert got == BATCH
            assert work.seq_scans == 0
            assert work.entries < 6000, work
        await database.execute("delete from leasehold.jobs where state = 'pending'")
        got, work = await work_of_claim(database, BATCH)
        assert got == 0
        assert work.entries < 6000, work


async def test_without_an_old_snapshot_there_are_no_count_marks(fresh_database: Database) -> None:
    await fresh_database.execute(UNDISTURBED)
    for _ in range(3):
        await bury(fresh_database, 3000)
    assert await count_marks(fresh_database) == 0


async def test_every_job_is_claimed_once_and_best_first_while_there_are_count_marks(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with old_snapshot(database):
        await bury(database, DEAD)
        await bury(database, 7000, priority=5)
        await pile_up(database, 1, "plain")
        worker = SqlWorker(database)
        await worker.claim(1)
        assert await count_marks(database) > 0
        low = [await enqueue(database, "plain") for _ in range(2)]
        top = await enqueue(database, "plain", priority=9)
        five = await enqueue(database, "plain", priority=5)
        least = await enqueue(database, "plain", priority=-1)
        other = await enqueue(database, "other", priority=7)
        new = await enqueue(database, "plain", queue="new")
        assert [job["job_id"] for job in await worker.claim(10)] == [top, other, five, *low, new, least]
        assert await worker.claim(10) == []


async def test_what_comes_back_while_there_are_marks_is_found_at_once(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with old_snapshot(database):
        await pile_up(database, 4, "plain")
        first = await enqueue(database, "plain", key="k")
        second = await enqueue(database, "plain", key="k")
        worker = SqlWorker(database)
        early = await worker.claim(5)
        await bury(database, DEAD)
        await pile_up(database, 200, "plain")
        await worker.claim(100)
        await worker.claim(100)
        assert await count_marks(database) > 0
        await worker.release(early[:1])
        await worker.fail(early[1:2], retry_in=[0.0])
        await worker.complete([job for job in early if job["job_id"] == first])
        assert await state(database, second) == "pending"
        found = {job["job_id"] for job in await worker.claim(10)}
        assert found == {early[0]["job_id"], early[1]["job_id"], second}


async def test_jobs_of_a_claim_that_was_rolled_back_are_not_behind_the_mark(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with old_snapshot(database):
        await bury(database, DEAD)
        await pile_up(database, 50, "plain")
        async with database.reserve("dies") as dying, database.reserve("goes on") as living:
            await dying.execute("begin")
            taken = {job["job_id"] for job in await SqlWorker(dying).claim(20)}
            rest = {job["job_id"] for job in await SqlWorker(living).claim(20)}
            assert not taken & rest
            assert await count_marks(database) == 1
            await dying.execute("rollback")
        assert taken <= {job["job_id"] for job in await SqlWorker(database).claim(30)}
