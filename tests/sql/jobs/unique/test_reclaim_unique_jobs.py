"""A retry asks for the unique key once more."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UniqueConflict
from tests.support.sql_jobs import snapshot, states
from tests.support.sql_unique import enqueue_one, go_on
from tests.support.sql_worker import SqlWorker


async def fail_unique(database: Database, worker: SqlWorker, **fields: object) -> int:
    """A unique job that failed for good."""
    job_id, outcome = await enqueue_one(database, **fields)  # type: ignore[arg-type]
    assert outcome == "created"
    await worker.fail(await worker.claim(), discard=[True])
    return job_id


async def test_the_key_of_a_failed_job_is_its_own_again_after_a_retry(database: Database, worker: SqlWorker) -> None:
    await fail_unique(database, worker)
    assert await database.call_value("retry_job", 1) == "pending"
    assert await enqueue_one(database) == (1, "existing")


async def test_a_retry_is_refused_while_another_job_has_the_key(database: Database, worker: SqlWorker) -> None:
    first = await fail_unique(database, worker)
    second, _ = await enqueue_one(database)
    before = await snapshot(database)
    with pytest.raises(
        UniqueConflict, match=f"job {first} cannot be retried: job {second} has its unique key now"
    ) as e:
        await database.call("retry_job", first)
    assert e.value.job_id == second
    assert await snapshot(database) == before
    await worker.complete(await worker.claim())
    assert await database.call_value("retry_job", first) == "pending"
    assert await enqueue_one(database) == (first, "existing")


async def test_of_several_retries_with_one_key_the_one_that_has_it_wins(database: Database, worker: SqlWorker) -> None:
    failed = [await fail_unique(database, worker) for _ in range(3)]
    rows = await database.call("reclaim_unique_jobs", failed)
    assert {row["job_id"]: row["holder"] for row in rows} == {failed[0]: failed[2], failed[1]: failed[2]}


async def test_when_the_janitor_has_forgotten_the_key_the_newest_wins(database: Database, worker: SqlWorker) -> None:
    failed = [await fail_unique(database, worker) for _ in range(2)]
    await database.execute("delete from leasehold.unique_jobs")
    rows = await database.call("reclaim_unique_jobs", failed)
    assert [(row["job_id"], row["holder"]) for row in rows] == [(failed[0], failed[1])]
    assert await enqueue_one(database, unique={"states": FAILED_TOO}) == (failed[1], "existing")


FAILED_TOO = ["pending", "scheduled", "waiting", "blocked", "claimed", "running", "failed"]


async def test_a_retry_within_a_chain_asks_for_the_key_of_the_chain(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database, unique={"scope": "chain"})
    (link,) = await go_on(worker, {"next": {"kind": "b"}})
    await worker.fail(await worker.claim(), discard=[True])
    second, outcome = await enqueue_one(database, unique={"scope": "chain"})
    assert outcome == "created"
    with pytest.raises(UniqueConflict, match=f"job {second} has its unique key now"):
        await database.call("retry_job", link)
    await worker.complete(await worker.claim())
    await database.call("retry_job", link)
    assert await enqueue_one(database, unique={"scope": "chain"}) == (1, "existing")


async def test_a_retry_within_a_chain_does_not_ask_where_only_the_job_was_unique(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_one(database)
    (link,) = await go_on(worker, {"next": {"kind": "b"}})
    await worker.fail(await worker.claim(), discard=[True])
    await enqueue_one(database)
    assert await database.call_value("retry_job", link) == "pending"


async def test_jobs_without_unique_are_not_asked_about(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(), discard=[True])
    assert await database.call("reclaim_unique_jobs", [1, 99]) == []
    assert await states(database) == {1: "failed"}
