from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import complete_all, enqueue_blocked, make_circle
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def waiting(database: Database, chain_id: int) -> list[int]:
    return sorted(row["waiting_id"] for row in await database.call("list_waiting_chains", chain_id))


async def test_all_that_wait_however_far_away_and_as_long_as_they_do(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "first")
    await enqueue_blocked(database, [1], "second")
    await enqueue_blocked(database, [2], "third")
    await enqueue_blocked(database, [1, 3], "fourth")
    assert [await waiting(database, n) for n in (1, 2, 3, 4)] == [[2, 3, 4], [3, 4], [4], []]
    await complete_all(worker, "first")
    assert await waiting(database, 1) == []
    assert await waiting(database, 2) == [3, 4]


async def test_who_waits_in_a_circle_waits_for_itself(database: Database, worker: SqlWorker) -> None:
    await make_circle(database, worker, 3)
    assert await waiting(database, 2) == [1, 2, 3]
