from __future__ import annotations

from leasehold.database import Caller, Database
from tests.support.sql_jobs import enqueue_many, pile_up
from tests.support.sql_work import measured
from tests.support.sql_worker import SqlWorker, ids

COUNT = "select leasehold.count_jobs_ahead($1, $2, j, $4) from leasehold.all_jobs j where j.id = $3"


async def ahead(caller: Caller, job_id: int, kind: str = "a", queue: str = "default", most: int = 10_000) -> int:
    return (await caller.fetch(COUNT, queue, kind, job_id, most))[0][0]


async def test_it_counts_in_the_order_of_claims(database: Database, worker: SqlWorker) -> None:
    jobs = [
        {"kind": "a", "priority": p, "key_group": g} for p, g in [(0, None), (0, "x"), (5, "y"), (0, None), (-5, None)]
    ]
    await enqueue_many(database, jobs)
    counted = {job_id: await ahead(database, job_id) for job_id in range(1, 6)}
    order = [(await worker.claim_one())["job_id"] for _ in range(5)]
    assert [counted[job_id] for job_id in order] == [0, 1, 2, 3, 4]


async def test_jobs_of_another_lane_are_counted_against_the_same_place(database: Database) -> None:
    await enqueue_many(database, [{"kind": k, "queue": q} for k, q in [("b", "q"), ("b", "q"), ("b", "r"), ("a", "q")]])
    assert [await ahead(database, 4, "b", queue) for queue in ("q", "r", "none")] == [2, 1, 0]
    assert await ahead(database, 1, "a", "q") == 0


async def test_what_is_not_pending_is_not_ahead(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}, {"kind": "a", "delay": 60}, {"kind": "a"}], 1)
    assert ids(await worker.claim(1)) == [3]
    await enqueue_many(database, [{"kind": "a"}])
    assert await ahead(database, 4) == 0


async def test_it_stops_at_the_most_and_reads_no_more_than_it_counts(database: Database) -> None:
    await pile_up(database, 20_000, "a")
    assert await ahead(database, 15_000, most=1000) == 1000
    async with database.reserve("measured") as connection:
        for job_id, rows in ((1, 50), (20_000, 1200)):
            await connection.execute("begin")
            async with measured(connection) as work:
                await ahead(connection, job_id, most=1000)
            assert (work.seq_scans, work.jobs_fetched <= rows) == (0, True)
            await connection.execute("rollback")
