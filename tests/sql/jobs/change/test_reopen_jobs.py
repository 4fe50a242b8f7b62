"""What it does to one job stands in test_retry_job.py."""

from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import enqueue_blocked
from tests.support.sql_jobs import enqueue, events, job, states
from tests.support.sql_unique import enqueue_one, go_on
from tests.support.sql_worker import SqlWorker


async def reopen(database: Database, *job_ids: int) -> dict[int, tuple[str | None, int | None]]:
    rows = await database.call("reopen_jobs", list(job_ids), "note")
    return {row["job_id"]: (row["state"], row["holder"]) for row in rows}


async def test_failed_and_cancelled_jobs_are_reopened_and_others_left_out(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 5, 3)
    await worker.complete(claimed[:1])
    await worker.fail(claimed[1:2], discard=[True])
    await database.call("cancel_job", 4)
    assert await reopen(database, 1, 2, 3, 4, 5, 99) == {2: ("pending", None), 4: ("pending", None)}
    assert await states(database) == {1: "completed", 2: "pending", 3: "claimed", 4: "pending", 5: "pending"}
    assert await events(database, 2) == [("created", 0), ("claimed", 1), ("started", 1), ("failed", 1), ("retried", 1)]


async def test_those_whose_unique_key_another_has_are_answered_with_that(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database)
    await worker.fail(await worker.claim(), discard=[True])
    second, _ = await enqueue_one(database)
    third = await enqueue(database, kind="other")
    await worker.fail(await worker.claim(kinds=["other"]), discard=[True])
    assert await reopen(database, 1, third) == {1: (None, second), third: ("pending", None)}


async def test_a_job_that_waits_for_a_failed_chain_is_blocked_again(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    blocked = await enqueue_blocked(database, [1])
    await worker.fail(await worker.claim(), discard=[True])
    await database.call("cancel_job", blocked)
    assert await reopen(database, blocked) == {blocked: ("blocked", None)}
    assert await reopen(database, 1) == {1: ("pending", None)}
    await worker.complete(await worker.claim())
    assert (await states(database))[blocked] == "pending"


async def test_a_failed_link_opens_its_chain_again(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    (link,) = await go_on(worker, {"next": {"kind": "b"}})
    await worker.fail(await worker.claim(), discard=[True])
    assert await reopen(database, link, 1) == {link: ("pending", None)}
    row = await job(database, link)
    assert (row["chain_id"], row["chain_position"]) == (1, 1)
    assert await worker.complete(await worker.claim()) == {}
