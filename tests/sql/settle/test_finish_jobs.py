"""Seen through its callers in their own tests; here what it does by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold.database import Caller, Database, Row
from tests.sql.jobs.change.test_cancel_job import OPEN_STATES, job_in
from tests.support.sql_jobs import empty, enqueue_many, job, snapshot, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

END = datetime(2999, 1, 1, 12, tzinfo=UTC)


async def finish(
    caller: Caller,
    job_ids: list[int] | None,
    state: str = "completed",
    *,
    errors: list[str | None] | None = None,
    outputs: list[str | None] | None = None,
    successors: list[int | None] | None = None,
    ran_for: list[float | None] | None = None,
) -> list[Row]:
    return await caller.call("finish_jobs", job_ids, state, errors, outputs, successors, ran_for, END)


async def test_it_ends_jobs_in_any_state_and_returns_them_as_they_were(database: Database, worker: SqlWorker) -> None:
    for state in OPEN_STATES:
        await empty(database)
        job_id, _ = await job_in(database, worker, state)
        before = await job(database, job_id)
        (was,) = await finish(database, [job_id], "failed", errors=['{"type": "E"}'])
        assert (was["id"], was["state"], was["incarnation"]) == (job_id, state, before["incarnation"])
        after = await job(database, job_id)
        assert (after["state"], after["error"], after["finished_at"]) == ("failed", '{"type": "E"}', END)


async def test_every_column_comes_along(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(
        database,
        [{"kind": "a", "key_group": "g", "timeout": 5, "deadline": "2999-01-01Z", "traceparent": "t", "key": "k"}],
    )
    await worker.claim()
    await database.execute("update leasehold.jobs set chain_id = 77, chain_position = 3, crashes = 2")
    before = await job(database, 1)
    await finish(database, [1])
    after = await job(database, 1)
    changed = {name for name, value in before.items() if after[name] != value}
    assert changed == {"state", "finished_at", "lease_expires_at"}


async def test_each_job_gets_its_own_in_whatever_order_they_are_named(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 3)
    ended = await finish(database, [3, 1, 2], outputs=["3", None, "2"], successors=[None, 9, None])
    assert [row["id"] for row in ended] == [1, 2, 3]
    rows = await database.fetch("select id, output, succeeded_by from leasehold.finished_jobs order by id")
    assert [tuple(row) for row in rows] == [(1, None, 9), (2, "2", None), (3, "3", None)]


async def test_unknown_ids_repeated_ids_nulls_and_no_ids_do_no_harm(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    before = await snapshot(database)
    for ids in ([], None, [404], [None]):
        assert await finish(database, ids) == []  # type: ignore[arg-type]
    assert await snapshot(database) == before
    assert [row["id"] for row in await finish(database, [2, 2, 404])] == [2]
    assert await states(database) == {1: "pending", 2: "completed"}


async def test_a_start_that_nobody_saw_is_reckoned_from_how_long_it_ran(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await enqueue_many(connection, [{"kind": "a"}] * 5)
        await freeze(connection, "2999-01-01 11:00Z")
        await SqlWorker(connection).claim(4)
        await finish(connection, [1, 2, 3, 4, 5], ran_for=[30.0, None, 1e9, -5.0, 30.0])
    rows = await database.fetch("select started_at from leasehold.finished_jobs order by id")
    assert [row["started_at"] for row in rows] == [
        END - timedelta(seconds=30),
        END,
        END - timedelta(hours=1),
        END,
        None,
    ]


async def test_without_such_times_a_job_started_when_it_says_or_not_at_all(
    database: Database, worker: SqlWorker
) -> None:
    for state in OPEN_STATES:
        await empty(database)
        job_id, _ = await job_in(database, worker, state)
        before = await job(database, job_id)
        await finish(database, [job_id], "cancelled")
        assert (await job(database, job_id))["started_at"] == before["started_at"]
        assert (before["started_at"] is not None) == (state == "running")


async def test_two_at_once_end_a_job_once(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}])
    async with database.transaction() as first:
        assert len(await finish(first, [1])) == 1
    assert await finish(database, [1], "failed") == []
    assert await states(database) == {1: "completed"}


async def test_ten_thousand_at_once(database: Database) -> None:
    ids = await enqueue_many(database, [{"kind": "a"}] * 10_000)
    assert [row["id"] for row in await finish(database, list(ids)[::-1])] == ids
