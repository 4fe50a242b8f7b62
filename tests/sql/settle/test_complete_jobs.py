from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue_many, events, job, snapshot, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, ids


async def test_a_completed_job_moves_to_the_finished_ones_with_its_output(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given(args='{"a": 1}', metadata='{"m": 1}', key="k", queue="q", priority=3, max_attempts=5)
    before = await job(database, 1)
    assert await worker.complete(claimed, [{"answer": 42}]) == {}
    assert (await database.fetch("select count(*) from leasehold.jobs"))[0][0] == 0
    row = await job(database, 1)
    assert (row["state"], row["output"], row["error"], row["lease_expires_at"]) == (
        "completed",
        '{"answer": 42}',
        None,
        None,
    )
    kept = (
        "kind queue key priority args metadata attempt max_attempts created_at run_at claimed_at worker_id incarnation"
    )
    for column in kept.split():
        assert row[column] == before[column], column


async def test_outputs_are_any_json_and_belong_each_to_its_job(database: Database, worker: SqlWorker) -> None:
    outputs: list[object] = [None, 0, "text", [1, [2]], {"a": {"b": None}}, True]
    await enqueue_many(database, [{"kind": "a"}] * len(outputs))
    claimed = await worker.claim()
    assert await worker.complete(claimed[::-1], outputs[::-1]) == {}
    rows = await database.fetch("select id, output from leasehold.finished_jobs order by id")
    assert [row["output"] for row in rows] == ["null", "0", '"text"', "[1, [2]]", '{"a": {"b": null}}', "true"]


async def test_no_output_is_no_output(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given())
    assert (await job(database, 1))["output"] is None


async def test_times_are_those_of_the_database(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await enqueue_many(connection, [{"kind": "a"}] * 5)
        await freeze(connection, "2999-01-01 12:00Z")
        claimed = await worker.claim()
        await freeze(connection, "2999-01-01 12:01Z")
        await worker.start(claimed[3:4])
        await freeze(connection, "2999-01-01 12:02Z")
        await worker.complete(claimed, ran_for=[30.0, None, 1e9, 7.0, float("nan")])
        rows = await connection.fetch(
            "select claimed_at, started_at, finished_at from leasehold.finished_jobs order by id"
        )
    noon = datetime(2999, 1, 1, 12, tzinfo=UTC)
    end = noon + timedelta(minutes=2)
    assert {(row["claimed_at"], row["finished_at"]) for row in rows} == {(noon, end)}
    started = [row["started_at"] for row in rows]
    assert started == [end - timedelta(seconds=30), end, noon, noon + timedelta(minutes=1), noon]


async def test_the_error_of_an_earlier_attempt_stays_in_the_timeline_only(
    database: Database, worker: SqlWorker
) -> None:
    await worker.fail(await worker.given(), retry_in=[0.0])
    await worker.complete(await worker.claim())
    assert (await job(database, 1))["error"] is None
    assert ("attempt_failed", 1) in await events(database, 1)


async def test_an_expired_lease_that_nobody_has_taken_back_still_completes(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    await expire(database, 1)
    assert await worker.complete(claimed) == {}


async def test_the_key_is_given_on_to_the_best_waiting_job(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given_all([{"kind": "a", "key": "k", "priority": p} for p in (9, 1, 5, 5)]))
    assert await states(database) == {1: "completed", 2: "waiting", 3: "pending", 4: "waiting"}


async def test_a_repeated_call_refuses_nothing_and_changes_nothing(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a", "key": f"k{n}"} for n in range(3)])
    await worker.complete(claimed[:2], ["first", "first"])
    before = await snapshot(database)
    assert await worker.complete(claimed[:2], ["second", "second"]) == {}
    assert await snapshot(database) == before
    assert await worker.complete(claimed, ["third"] * 3) == {}
    assert (await job(database, 1))["output"] == '"first"'
    assert (await job(database, 3))["output"] == '"third"'


async def test_one_refused_job_does_not_hold_up_its_neighbours(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 4)
    await database.call("cancel_job", 2)
    await expire(database, 3)
    await database.call("reap_jobs")
    assert await worker.complete(claimed) == {2: "cancelled", 3: "taken_by_another_worker"}
    assert await states(database) == {1: "completed", 2: "cancelled", 3: "pending", 4: "completed"}


async def test_an_output_that_postgres_cannot_keep_fails_the_call_and_changes_nothing(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 2)
    with pytest.raises(BadInput):
        await worker.complete(claimed, ["fine", "nul \0"])
    assert await worker.complete(claimed, ["fine", "fine"]) == {}


async def test_empty_arrays_and_repeated_ids_are_harmless(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    assert await worker.complete([]) == {}
    assert await worker.complete(claimed * 2, ["a", "a"]) == {}
    assert ids(claimed) == [1]
    assert (await database.fetch("select count(*) from leasehold.finished_jobs"))[0][0] == 1
