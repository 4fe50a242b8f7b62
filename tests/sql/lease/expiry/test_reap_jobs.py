from __future__ import annotations

import json
from datetime import timedelta

import pytest
import trio

from leasehold.database import Database, Row
from leasehold.database.border import listen
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue, enqueue_many, events, job, snapshot, states
from tests.support.sql_waits import freeze, frozen, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker, frozen_worker
from tests.support.waiting import PATIENCE, until


async def expire_all(database: Database) -> None:
    await database.execute(
        "update leasehold.jobs set lease_expires_at = now() - interval '1 s' where claimed_at is not null"
    )


async def test_a_job_whose_lease_ran_out_is_pending_again_and_the_attempt_counts(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue(connection, queue="q")
        await SqlWorker(connection, "ada").claim(lease=60)
        await freeze(connection, "2026-03-01 12:00:59Z")
        assert await connection.call("reap_jobs") == []
        await freeze(connection, "2026-03-01 12:01Z")
        (reaped,) = await connection.call("reap_jobs")
        row = await job(connection, 1)
    assert tuple(reaped) == (1, 1, "ada", "q", "pending")
    assert (row["state"], row["attempt"], row["spared_attempts"], row["worker_id"]) == ("pending", 1, 0, None)
    message = "the lease of attempt 1 on worker ada ran out at 2026-03-01 12:01:00+00"
    assert json.loads(row["error"]) == {"type": "LeaseExpired", "message": message}


async def test_the_error_of_a_job_that_fails_for_a_dead_worker_says_why_it_does_not_run_again(
    database: Database,
) -> None:
    async with database.reserve("clocked") as connection:
        await freeze(connection, "2026-03-01 12:00Z")
        await enqueue(connection, max_attempts=1)
        await SqlWorker(connection, "ada").claim(lease=60)
        await freeze(connection, "2026-03-01 12:01Z")
        (reaped,) = await connection.call("reap_jobs")
        row = await job(connection, 1)
        [told] = await connection.fetch("select message from leasehold.job_events where event = 'reaped'")
    assert reaped["state"] == row["state"] == "failed"
    message = (
        "the lease of attempt 1 on worker ada ran out at 2026-03-01 12:01:00+00: the worker died or stood still in the middle of"
        " the job, which may not begin twice, for its max_attempts is 1. Retry it by hand, and give such jobs max_attempts = 2"
        " if they may"
    )
    assert json.loads(row["error"])["message"] == told["message"] == message


async def test_a_running_job_is_taken_back_too(database: Database, worker: SqlWorker) -> None:
    await worker.start(await worker.given())
    await expire(database, 1)
    await database.call("reap_jobs")
    row = await job(database, 1)
    assert (row["state"], row["started_at"], row["heartbeat_at"]) == ("pending", None, None)


async def test_it_keeps_its_place(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 2, 1)
    await expire(database, 1)
    await database.call("reap_jobs")
    assert (await worker.claim_one())["job_id"] == 1


async def test_a_job_with_no_attempt_left_fails(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, max_attempts=2)
    for state in ("pending", "failed"):
        await worker.claim()
        await expire(database, 1)
        assert [row["state"] for row in await database.call("reap_jobs")] == [state]
    row = await job(database, 1)
    assert (row["state"], row["attempt"], row["worker_id"]) == ("failed", 2, "w1")
    error = json.loads(row["error"])
    assert (error["type"], error["message"].split("; ")[1:]) == ("LeaseExpired", ["its 2 attempts are used up"])


async def test_spared_attempts_do_not_count(database: Database, worker: SqlWorker) -> None:
    await worker.release(await worker.given(max_attempts=2))
    for state in ("pending", "failed"):
        await worker.claim()
        await expire(database, 1)
        assert [row["state"] for row in await database.call("reap_jobs")] == [state]


async def test_both_ends_are_in_the_timeline_once(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, max_attempts=2)
    for _ in range(2):
        await worker.start(await worker.claim())
        await expire(database, 1)
        await database.call("reap_jobs")
    assert await events(database, 1) == [
        ("created", 0),
        ("claimed", 1),
        ("started", 1),
        ("reaped", 1),
        ("claimed", 2),
        ("started", 2),
        ("reaped", 2),
        ("failed", 2),
    ]


async def test_a_live_lease_is_left_alone(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 3, 2)
    before = await snapshot(database)
    assert await database.call("reap_jobs") == []
    assert await snapshot(database) == before


async def test_the_batch_is_the_most_that_is_taken(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 5)
    await expire_all(database)
    assert [len(await database.call("reap_jobs", 2)) for _ in range(4)] == [2, 2, 1, 0]


async def test_keys_are_given_on_to_the_best_of_their_line(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}, {"kind": "a", "key": "k", "priority": -1}])
    await worker.given_all([{"kind": "a", "key": "l", "max_attempts": 1}] * 2)
    await expire_all(database)
    await database.call("reap_jobs")
    found = await states(database)
    assert [found[n] for n in sorted(found)] == ["pending", "waiting", "failed", "pending"]


async def test_owners_are_told_and_idle_workers_woken(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a", "queue": q} for q in "xy"])
    await expire_all(database)
    idle = SqlWorker(database, "idle")
    await idle.register()
    await idle.claim()
    async with listen(database, "leasehold") as listening:
        await database.call("reap_jobs")
        with trio.fail_after(PATIENCE):
            heard = {await listening.payloads.receive() for _ in range(4)}
    assert heard == {"lost:1:1:taken_by_another_worker", "lost:2:1:taken_by_another_worker", "wake:x", "wake:y"}


# What has not been renewed for long.


async def test_stale_after_takes_back_what_was_not_renewed_for_so_long(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        claimed = await worker.given_all([{"kind": "a"}] * 3, lease=86400)
        await freeze(connection, "2026-03-01 12:05Z")
        await worker.renew(claimed[:1], lease=86400)
        await freeze(connection, "2026-03-01 12:10Z")
        await SqlWorker(connection).claim()
        assert await connection.call("reap_jobs", 1000, timedelta(minutes=10)) == []
        reaped = await connection.call("reap_jobs", 1000, timedelta(minutes=9))
    assert sorted(row["job_id"] for row in reaped) == [2, 3]


# Races. The reaper reads, then locks; what counts is what it finds under the lock.


async def test_two_reapers_never_take_the_same_job(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 200, 200)
    await expire_all(database)
    reaped: list[Row] = []

    async def reap(name: str) -> None:
        async with database.reserve(name) as connection:
            while rows := await connection.call("reap_jobs", 20):
                reaped.extend(rows)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reap, "first")
        nursery.start_soon(reap, "second")
    reaped += await database.call("reap_jobs")
    assert sorted(row["job_id"] for row in reaped) == list(range(1, 201))
    counts = await database.fetch("select count(*) from leasehold.job_events where event = 'reaped' group by job_id")
    assert {row[0] for row in counts} == {1}


async def test_a_job_that_another_reaper_has_locked_is_left_to_it(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 2)
    await expire_all(database)
    async with open_transaction(database, "first") as first:
        assert len(await first.call("reap_jobs", 1)) == 1
        with trio.fail_after(PATIENCE):
            assert len(await database.call("reap_jobs")) == 1
        await first.execute("commit")
    assert set((await states(database)).values()) == {"pending"}


async def test_a_renewal_in_flight_saves_the_job(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await expire(database, 1)
    async with open_transaction(database, "renewal") as renewal:
        assert await worker.over(renewal).renew(claimed) == {}
        assert await database.call("reap_jobs") == []
        await renewal.execute("commit")
    assert await database.call("reap_jobs") == []


async def test_a_renewal_that_comes_while_a_reaper_is_at_it_is_busy_and_then_refused(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    await expire(database, 1)
    async with open_transaction(database, "reaper") as reaper:
        assert len(await reaper.call("reap_jobs")) == 1
        assert await worker.renew(claimed) == {1: "busy"}
        await reaper.execute("commit")
    assert await worker.renew(claimed) == {1: "taken_by_another_worker"}


async def test_a_completion_beside_a_reaper_waits_for_nothing_and_is_refused_afterwards(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    await expire(database, 1)
    async with open_transaction(database, "reaper") as reaper:
        await reaper.call("reap_jobs")
        assert await worker.complete(claimed, ["late"]) == {1: "busy"}
        await reaper.execute("commit")
    assert await worker.complete(claimed, ["late"]) == {1: "taken_by_another_worker"}
    assert await states(database) == {1: "pending"}


async def test_a_reaper_takes_nothing_from_a_completion_in_flight(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await expire(database, 1)
    async with open_transaction(database, "settler") as settler:
        await worker.over(settler).complete(claimed)
        assert await database.call("reap_jobs") == []
        await settler.execute("commit")
    assert await database.call("reap_jobs") == []
    assert await states(database) == {1: "completed"}


@pytest.mark.parametrize("write", ["complete", "fail", "renew", "release", "start"])
async def test_renewals_and_outcomes_that_meet_in_one_row_both_count_in_the_end(
    database: Database, worker: SqlWorker, write: str
) -> None:
    """A start waits for the renewal; everything else is busy for the moment and is sent again."""
    claimed = await worker.given()
    answers: list[object] = []

    async def settle() -> None:
        async with database.reserve("second") as connection:
            answers.append(await getattr(worker.over(connection), write)(claimed))

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        await worker.over(first).renew(claimed, ran_for=[0.0])
        nursery.start_soon(settle)
        if write == "start":
            await until_waiting(database, "second")
        else:
            await until(lambda: bool(answers))
        await first.execute("commit")
    if write == "fail":
        assert answers[0][1]["reason"] == "busy"  # type: ignore[index]
    else:
        assert answers == [{} if write == "start" else {1: "busy"}]
    await getattr(worker, write)(claimed)
    ends = {"complete": "completed", "fail": "scheduled", "renew": "running", "release": "pending", "start": "running"}
    assert await states(database) == {1: ends[write]}
