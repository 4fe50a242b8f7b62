from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty, enqueue, job, snapshot
from tests.support.sql_worker import SqlWorker

NOTHING = ("args", "metadata", "priorities", "queues", "max_attempts", "run_ats")


async def change(database: Database, job_id: int = 1, **fields: object) -> list[str]:
    """The state of the job afterwards, or nothing."""
    arrays = {name: [fields[name]] if name in fields else None for name in NOTHING}
    return [row["state"] for row in await database.call("change_jobs", [job_id], timeout=None, **arrays)]


async def test_what_is_given_changes_and_the_rest_stays(database: Database) -> None:
    await enqueue(database, args='{"a": 1}', metadata='{"m": 1}', priority=3)
    assert await change(database, args='{"a": 2}', queues="q") == ["pending"]
    row = await job(database, 1)
    assert (row["args"], row["metadata"], row["priority"], row["queue"]) == ('{"a": 2}', '{"m": 1}', 3, "q")
    await change(database, metadata='{"m": 2}', priorities=4, max_attempts=2)
    row = await job(database, 1)
    assert (row["args"], json.loads(row["metadata"]), row["priority"], row["max_attempts"]) == (
        '{"a": 2}',
        {"m": 2},
        4,
        2,
    )


async def test_a_job_moves_with_its_time(database: Database, subtests: pytest.Subtests) -> None:
    for key, hours, expected in [
        (None, 1, "scheduled"),
        (None, -1, "pending"),
        ("k", 1, "scheduled"),
        ("k", -1, "waiting"),
    ]:
        await empty(database)
        with subtests.test(key=key, hours=hours, expected=expected):
            await enqueue(database, key=key, delay=timedelta(minutes=5))
            assert await change(database, run_ats=datetime.now(UTC) + timedelta(hours=hours)) == [expected]


async def test_a_blocked_job_stays_blocked(database: Database) -> None:
    await enqueue(database)
    await enqueue(database, blockers=[1])
    assert await change(database, 2, run_ats=datetime.now(UTC)) == ["blocked"]


async def test_a_job_that_is_held_or_gone_is_left_alone(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for state in ["claimed", "running", "completed", "unknown"]:
        await empty(database)
        with subtests.test(state=state):
            claimed = await worker.given()
            if state == "running":
                await worker.start(claimed)
            elif state == "completed":
                await worker.complete(claimed)
            before = await snapshot(database)
            assert await change(database, 1 if state != "unknown" else 9, args="{}", priorities=1) == []
            assert await snapshot(database) == before
