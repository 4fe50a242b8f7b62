from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_worker import SqlWorker, ids


async def test_the_holder_of_a_key_comes_first_then_those_that_may_be_next(
    database: Database, worker: SqlWorker
) -> None:
    jobs = await enqueue_many(
        database,
        [
            {"kind": "a", "key": "k"},
            {"kind": "a", "key": "k"},
            {"kind": "b", "key": "k", "priority": 9},
            {"kind": "a", "key": "other"},
            {"kind": "a", "key": "k", "delay": 60},
        ],
    )
    held = ids(await worker.claim(1, kinds=["a"]))
    rows = await database.call("list_key_jobs", "k")
    assert [row["id"] for row in rows] == [jobs[0], jobs[2], jobs[1]]
    assert held == [jobs[0]]
    assert len(await database.call("list_key_jobs", "k", 2)) == 2
    assert await database.call("list_key_jobs", "nobody") == []
