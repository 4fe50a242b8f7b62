from __future__ import annotations

import json
from datetime import timedelta

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_worker import SqlWorker


async def test_a_queue_is_known_by_its_jobs_its_workers_its_limits_or_because_it_is_paused(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "jobs"}, {"kind": "a", "queue": "jobs", "delay": 60}])
    await worker.register(queues=["served", "jobs"])
    await database.call("set_limit", "limited", "", 3)
    await database.call("set_limit", "limited", "*", 1)
    await database.call("pause_queue", "paused", "they asked us to")
    await database.call("pause_queue", "jobs", "for a while")
    await database.call("resume_queue", "jobs")
    rows = await database.call("list_queues")
    told = {row["queue"]: (json.loads(row["counts"]), row["workers"], row["limits"]) for row in rows}
    assert told == {
        "jobs": ({"pending": 1, "scheduled": 1}, 1, 0),
        "limited": ({}, 0, 2),
        "paused": ({}, 0, 0),
        "served": ({}, 1, 0),
    }
    assert {row["queue"]: row["pause_reason"] for row in rows if row["paused_at"]} == {"paused": "they asked us to"}


async def test_how_jobs_age_is_told(database: Database) -> None:
    await database.call("set_ageing", "q", timedelta(minutes=5))
    (row,) = await database.call("list_queues")
    assert (row["queue"], row["ageing_seconds"]) == ("q", 300)


async def test_a_worker_that_serves_all_queues_counts_for_each(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "q"}])
    await worker.register(queues=[])
    assert [(row["queue"], row["workers"]) for row in await database.call("list_queues")] == [("q", 1)]
