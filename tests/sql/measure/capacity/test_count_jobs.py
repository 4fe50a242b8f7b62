from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


async def test_each_queue_and_state_is_counted(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all(
        [{"kind": "a"}] * 6 + [{"kind": "a", "queue": "q", "key": "k"}] * 2, 4, queues=["default"]
    )
    await worker.complete(claimed[:2])
    await worker.fail(claimed[2:3], discard=[True])
    await database.call("cancel_job", 6)
    assert [tuple(row) for row in await database.call("count_jobs")] == [
        ("default", "cancelled", 1),
        ("default", "claimed", 1),
        ("default", "completed", 2),
        ("default", "failed", 1),
        ("default", "pending", 1),
        ("q", "pending", 1),
        ("q", "waiting", 1),
    ]


async def test_nothing_is_nothing(database: Database) -> None:
    assert await database.call("count_jobs") == []
