from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold.database import Database
from leasehold.errors import DatabaseUnavailable
from tests.support.sql_chains import complete_all, edges, enqueue_blocked
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, state, states
from tests.support.sql_waits import frozen, open_transaction
from tests.support.sql_worker import SqlWorker, ids


async def strand(database: Database, worker: SqlWorker, key: str | None = None) -> int:
    """A blocked job whose chain completed while the job was being enqueued."""
    blocker = await enqueue(database, kind="part")
    claimed = await worker.claim(1, kinds=["part"])
    async with open_transaction(database, "producer") as producer:
        joined = await enqueue_blocked(producer, [blocker], key=key)
        await worker.complete(claimed, ["unseen"])
        await producer.execute("commit")
    assert await state(database, joined) == "blocked"
    return joined


async def test_an_edge_whose_chain_completed_unseen_is_closed_with_its_output(
    database: Database, worker: SqlWorker
) -> None:
    joined = await strand(database, worker)
    assert await database.call_value("unblock_jobs", [joined]) == []
    assert (await state(database, joined), await edges(database, joined)) == ("pending", [(1, True, "unseen")])
    assert [event for event, _ in await events(database, joined)] == ["created", "unblocked"]


async def test_one_open_chain_is_enough_to_stay_blocked(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "b"}])
    joined = await enqueue_blocked(database, [1, 2])
    await complete_all(worker, "a")
    before = await snapshot(database)
    assert await database.call_value("unblock_jobs", [joined]) == []
    assert await snapshot(database) == before
    assert await state(database, joined) == "blocked"


async def test_jobs_that_are_not_blocked_are_left_alone(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}] * 2 + [{"kind": "a", "delay": 60}] + [{"kind": "b"}] * 2)
    await worker.complete(await worker.claim(1, kinds=["b"]))
    await worker.claim(1)
    before = await snapshot(database)
    assert await database.call_value("unblock_jobs", [1, 2, 3, 4, 5, 404, None]) == []
    nothing: list[list[int] | None] = [[], None]
    for ids_given in nothing:
        assert await database.call_value("unblock_jobs", ids_given) == []
    assert await snapshot(database) == before


async def test_a_blocked_job_without_any_edge_is_free(database: Database) -> None:
    await enqueue(database)
    joined = await enqueue_blocked(database, [1])
    await database.execute("delete from leasehold.job_blockers")
    await database.call("unblock_jobs", [joined, joined])
    assert await state(database, joined) == "pending"
    assert [event for event, _ in await events(database, joined)] == ["created", "unblocked"]


async def test_a_job_with_a_key_joins_its_line_and_the_caller_promotes(database: Database, worker: SqlWorker) -> None:
    joined = await strand(database, worker, key="k")
    assert await database.call_value("unblock_jobs", [joined]) == ["k"]
    assert await state(database, joined) == "waiting"


async def test_it_takes_its_place_behind_what_was_due_before(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, kind="part")
    joined = await enqueue_blocked(database, [1], kind="a")
    before = await enqueue(database, kind="a")
    await complete_all(worker, "part")
    after = await enqueue(database, kind="a")
    assert ids(await worker.claim()) == [before, joined, after]


async def test_one_that_is_not_due_yet_is_scheduled_for_its_time(database: Database) -> None:
    async with frozen(database, "2999-01-01 12:00Z") as connection:
        await enqueue(connection, kind="part")
        joined = await enqueue_blocked(connection, [1], run_at="2999-01-01 13:00Z")
        await complete_all(SqlWorker(connection), "part")
        row = await job(connection, joined)
    assert (row["state"], row["run_at"]) == ("scheduled", datetime(2999, 1, 1, 13, tzinfo=UTC))


async def test_rows_that_somebody_has_locked_can_be_left(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for skip_locked in [False, True]:
        await empty(database)
        with subtests.test(skip_locked=skip_locked):
            first, second = await strand(database, worker), await strand(database, worker)
            async with open_transaction(database, "user") as user, database.reserve("other") as other:
                await user.fetch("select from leasehold.jobs where id = $1 for update", first)
                await other.execute("set lock_timeout = '200ms'")
                try:
                    await other.call("unblock_jobs", [first, second], skip_locked)
                except DatabaseUnavailable:  # which is what a lock timeout is
                    assert not skip_locked
                else:
                    assert skip_locked
            expected = {first: "blocked", second: "pending" if skip_locked else "blocked"}
            assert {job_id: (await states(database))[job_id] for job_id in (first, second)} == expected
