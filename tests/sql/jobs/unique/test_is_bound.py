"""More of it stands in test_claim_unique_jobs.py, where it is used."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_worker import SqlWorker

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def is_bound(database: Database, job_id: int = 1, since: datetime = NOW, **terms: object) -> object:
    return await database.call_value("is_bound", job_id, since, json.dumps(terms), NOW)


async def test_an_unfinished_job_counts(database: Database) -> None:
    await enqueue(database)
    assert await is_bound(database)


async def test_a_job_that_nobody_knows_does_not(database: Database) -> None:
    assert await is_bound(database, 9) is False
    assert await is_bound(database, 9, scope="chain") is False


async def test_a_retried_job_counts_by_its_state_of_today(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(), discard=[True])
    assert await is_bound(database) is False
    assert await is_bound(database, states=["failed"])
    await database.call("retry_job", 1)
    assert await is_bound(database)


async def test_what_is_as_old_as_the_window_does_not_count(database: Database, subtests: pytest.Subtests) -> None:
    for age, expected in [(0, True), (9.999, True), (10, False), (11, False)]:
        await empty(database)
        with subtests.test(age=age, expected=expected):
            await enqueue(database)
            assert await is_bound(database, since=NOW - timedelta(seconds=age), window=10) is expected


async def test_an_excluded_chain_does_not_count(database: Database) -> None:
    await enqueue(database)
    assert await is_bound(database, exclude=[2, 1]) is False
    assert await is_bound(database, exclude=[2, 11])
    assert await is_bound(database, exclude=[])
