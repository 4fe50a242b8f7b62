"""What release_jobs and reschedule_jobs have in common; their own tests show what each of them does."""

from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_worker import SqlWorker


async def test_the_attempt_counts_up_and_the_spared_ones_do_too(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, max_attempts=1)
    for _ in range(5):
        await worker.release(await worker.claim())
        await worker.reschedule(await worker.claim(), [0.0])
    (row,) = await database.fetch("select attempt, spared_attempts, state from leasehold.jobs")
    assert tuple(row) == (10, 10, "pending")


async def test_a_returned_job_keeps_its_place(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 3, 2)
    await worker.release(claimed)
    assert [row["job_id"] for row in await worker.claim(3)] == [1, 2, 3]


async def test_the_key_goes_to_the_best_of_its_line(database: Database, worker: SqlWorker) -> None:
    (claimed,) = await worker.given_all([{"kind": "a", "key": "k"}] * 3)
    await database.execute("update leasehold.jobs set priority = 9 where id = 3")
    await worker.release([claimed])
    assert await states(database) == {1: "waiting", 2: "waiting", 3: "pending"}
    (claimed,) = await worker.claim()
    await worker.reschedule([claimed], [60.0])
    assert await states(database) == {1: "pending", 2: "waiting", 3: "scheduled"}
