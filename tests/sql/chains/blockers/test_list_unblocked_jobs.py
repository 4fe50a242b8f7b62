from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


async def unblocked(database: Database, claimed: list[tuple[int, int]]) -> list[int]:
    ids, attempts = [job_id for job_id, _ in claimed], [attempt for _, attempt in claimed]
    return [row["job_id"] for row in await database.call("list_unblocked_jobs", ids, attempts)]


async def test_a_claim_that_took_a_job_which_a_chain_had_blocked_is_named_and_the_next_one_is_not(
    database: Database, worker: SqlWorker
) -> None:
    first = await worker.given_all([{"kind": "a"}, {"kind": "b", "blockers": [{"position": 1}]}, {"kind": "c"}], 3)
    assert await unblocked(database, [(row["job_id"], row["attempt"]) for row in first]) == []
    await worker.complete([row for row in first if row["job_id"] == 1])
    [then] = await worker.claim(3)
    assert (then["job_id"], await unblocked(database, [(2, 1), (3, 1)])) == (2, [2])
    await worker.release([then])
    [again] = await worker.claim(1)
    assert await unblocked(database, [(again["job_id"], again["attempt"])]) == []


async def test_nothing_is_asked_and_nothing_answered(database: Database) -> None:
    assert await unblocked(database, []) == []
