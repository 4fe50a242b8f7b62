from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_edges import enqueue_blocked
from tests.support.sql_jobs import enqueue_many


async def test_those_that_wait_are_named_up_to_three(database: Database) -> None:
    await enqueue_many(database, [{"kind": "part"}])
    assert await database.call_value("describe_waiters", 1, [1]) is None
    await enqueue_blocked(database, [1])
    assert (
        await database.call_value("describe_waiters", 1, [1])
        == "chain 1 cannot be deleted: job 2 (joined) waits for it"
    )
    for _ in range(4):
        await enqueue_blocked(database, [1])
    said = "chain 1 cannot be deleted: job 2 (joined), job 3 (joined), job 4 (joined) and 2 more wait for it"
    assert await database.call_value("describe_waiters", 1, [1]) == said


async def test_those_that_go_with_it_do_not_count(database: Database) -> None:
    await enqueue_many(database, [{"kind": "part"}])
    await enqueue_blocked(database, [1])
    assert await database.call_value("describe_waiters", 1, [1, 2]) is None
