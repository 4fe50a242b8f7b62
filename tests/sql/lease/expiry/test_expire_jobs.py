from __future__ import annotations

import json
from datetime import UTC, datetime

import trio

from leasehold.database import Database
from tests.support.sql_chains import enqueue_blocked
from tests.support.sql_jobs import enqueue, enqueue_many, events, job, state, states
from tests.support.sql_waits import freeze, frozen, heard, open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

PAST = datetime(2020, 1, 1, tzinfo=UTC)


async def miss(database: Database, *job_ids: int) -> None:
    """Their deadlines have passed."""
    await database.fetch("update leasehold.jobs set deadline = $1 where id = any ($2)", PAST, list(job_ids))


async def test_a_job_fails_at_its_deadline_and_not_before(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue(connection, deadline=datetime(2026, 3, 1, 12, 1, tzinfo=UTC))
        await freeze(connection, "2026-03-01 12:00:59Z")
        assert await connection.call_value("expire_jobs") == 0
        await freeze(connection, "2026-03-01 12:01Z")
        assert await connection.call_value("expire_jobs") == 1
        row = await job(connection, 1)
    assert row["state"] == "failed"
    assert json.loads(row["error"]) == {
        "type": "DeadlineExceeded",
        "message": "the deadline was 2026-03-01 12:01:00+00; the job was pending",
    }
    assert [event for event, _ in await events(database, 1)] == ["created", "failed"]


async def test_whatever_its_state_is(database: Database, worker: SqlWorker) -> None:
    for was in ["pending", "scheduled", "waiting", "blocked", "claimed", "running"]:
        match was:
            case "scheduled":
                await enqueue_many(database, [{"kind": "a", "delay": 60}])
            case "waiting":
                await enqueue_many(database, [{"kind": "a", "key": "k"}] * 2)
            case "blocked":
                await enqueue_blocked(database, [await enqueue(database)])
            case _:
                await enqueue(database)
        job_id = max(await states(database))
        if was in ("claimed", "running"):
            claimed = await worker.claim()
            if was == "running":
                await worker.start(claimed)
        assert await state(database, job_id) == was
        await miss(database, job_id)
        assert await database.call_value("expire_jobs") == 1
        row = await job(database, job_id)
        assert (row["state"], json.loads(row["error"])["message"].split("; ")[1]) == ("failed", f"the job was {was}")


async def test_whoever_runs_it_is_told_and_refused(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await miss(database, 1)
    assert await heard(database, lambda: database.call("expire_jobs")) == ["lost:1:1:deadline"]
    assert await worker.complete(claimed) == {1: "deadline"}


async def test_its_key_is_given_on(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a", "key": "k"}] * 2)
    await miss(database, 1)
    await database.call("expire_jobs")
    assert await states(database) == {1: "failed", 2: "pending"}


async def test_what_waited_for_its_chain_goes_on_waiting(database: Database) -> None:
    await enqueue(database)
    await enqueue_blocked(database, [1])
    await miss(database, 1)
    await database.call("expire_jobs")
    assert await states(database) == {1: "failed", 2: "blocked"}


async def test_who_waits_for_the_end_of_the_chain_is_told(database: Database) -> None:
    await enqueue(database)
    await database.fetch("insert into leasehold.chain_waiters values (1, now() + interval '1 h')")
    await miss(database, 1)
    assert await heard(database, lambda: database.call("expire_jobs")) == ["closed:1"]


async def test_a_retry_has_no_deadline_any_more(database: Database) -> None:
    await enqueue(database)
    await miss(database, 1)
    await database.call("expire_jobs")
    await database.call("retry_job", 1)
    assert await database.call_value("expire_jobs") == 0
    assert await state(database, 1) == "pending"


async def test_batches_the_oldest_first(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "deadline": f"2026-01-0{9 - n}T00:00:00Z"} for n in range(5)])
    assert [await database.call_value("expire_jobs", 2) for _ in range(4)] == [2, 2, 1, 0]


async def test_a_locked_job_is_left_for_the_next_round(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await miss(database, 1, 2)
    async with open_transaction(database, "owner") as owner:
        await owner.fetch("select 1 from leasehold.jobs where id = 1 for update")
        with trio.fail_after(PATIENCE):
            assert await database.call_value("expire_jobs") == 1
    assert await states(database) == {1: "pending", 2: "failed"}
    assert await database.call_value("expire_jobs") == 1


async def test_jobs_without_a_deadline_are_none_of_its_business(database: Database) -> None:
    await enqueue(database)
    await enqueue(database, deadline=datetime(2999, 1, 1, tzinfo=UTC))
    assert await database.call_value("expire_jobs") == 0


async def test_a_job_whose_key_somebody_settles_holds_up_no_other_deadline(database: Database) -> None:
    """A waiting one passes no key on, so it need not wait for the lock."""
    await enqueue_many(
        database, [{"kind": "a", "key": "k"}, {"kind": "a", "key": "k"}, {"kind": "a", "key": "l"}, {"kind": "a"}]
    )
    await miss(database, 1, 2, 3, 4)
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        with trio.fail_after(PATIENCE):
            assert await database.call_value("expire_jobs") == 3
    assert await states(database) == {1: "pending", 2: "failed", 3: "failed", 4: "failed"}
    assert await database.call_value("expire_jobs") == 1
