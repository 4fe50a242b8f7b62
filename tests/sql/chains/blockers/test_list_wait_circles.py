from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import enqueue_blocked, make_circle
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_worker import SqlWorker


async def circles(database: Database) -> list[tuple[int, int, int]]:
    return [tuple(row.values()) for row in await database.call("list_wait_circles")]


async def test_each_chain_of_a_circle_with_the_next_one(database: Database, worker: SqlWorker) -> None:
    await make_circle(database, worker, 3)
    assert await circles(database) == [(1, 1, 2), (2, 2, 3), (3, 3, 1)]


async def test_who_only_waits_for_a_circle_or_is_waited_for_by_one_is_not_in_it(
    database: Database, worker: SqlWorker
) -> None:
    await make_circle(database, worker, 2)
    await enqueue(database, "plain")
    await enqueue_blocked(database, [1, 3])
    await enqueue_blocked(database, [4])
    assert await circles(database) == [(1, 1, 2), (2, 2, 1)]


async def test_waits_that_end_somewhere_are_no_circle(database: Database) -> None:
    diamond = [[], [1], [1], [2, 3], [4]]
    await enqueue_many(
        database, [{"kind": "k", "blockers": [{"position": n} for n in before] or None} for before in diamond]
    )
    assert await circles(database) == []


async def test_a_thousand_jobs_in_a_row_are_looked_through(database: Database) -> None:
    await enqueue_many(database, [{"kind": "k", "blockers": [{"position": n}] if n else None} for n in range(1000)])
    assert await circles(database) == []


async def test_without_blocked_jobs_there_is_nothing(database: Database) -> None:
    assert await circles(database) == []
