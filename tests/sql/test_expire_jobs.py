from __future__ import annotations

import json
from datetime import timedelta

import pytest
import trio

from leasehold.database import Caller, Database, Row
from tests.support.sql_chains import blocked, chain_state
from tests.support.sql_jobs import enqueue, enqueue_many, events, job, snapshot, state, states
from tests.support.sql_waits import freeze, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker

DEADLINE = "2026-03-01 12:00:00+00"
LATER = "2026-03-01 12:00:01Z"
OPEN_STATES = ("pending", "scheduled", "waiting", "blocked", "claimed", "running")


async def pass_deadline(caller: Caller, *job_ids: int) -> None:
    """Give jobs a deadline that is over."""
    await caller.fetch(
        "update leasehold.jobs set deadline = leasehold.clock() - interval '1 second' where id = any ($1::bigint[])",
        list(job_ids),
    )


async def job_in(database: Database, worker: SqlWorker, wanted: str) -> tuple[int, list[Row]]:
    """A job in this state, of key `k` unless it is blocked, and what the worker has claimed."""
    if wanted == "blocked":
        return await blocked(database, [await enqueue(database, "part")]), []
    if wanted == "waiting":
        await enqueue(database, key="k")
        return await enqueue(database, key="k"), []
    job_id = await enqueue(database, key="k", delay=timedelta(hours=1) if wanted == "scheduled" else None)
    claimed = await worker.claim() if wanted in ("claimed", "running") else []
    if wanted == "running":
        await worker.start(claimed)
    return job_id, claimed


async def test_a_job_fails_at_its_deadline_and_not_before(database: Database) -> None:
    async with database.lane("clocked") as lane:
        await freeze(lane, "2026-03-01 11:00Z")
        await enqueue_many(lane, [{"kind": "a", "deadline": DEADLINE}, {"kind": "a"}])
        await freeze(lane, "2026-03-01 11:59:59Z")
        assert await lane.call_value("expire_jobs") == 0
        await freeze(lane, DEADLINE)
        assert await lane.call_value("expire_jobs") == 1
        assert await lane.call_value("expire_jobs") == 0
        assert await states(lane) == {1: "failed", 2: "pending"}
        error = json.loads((await job(lane, 1))["error"])
    assert error == {"type": "DeadlineExceeded", "message": f"the deadline was {DEADLINE}; the job was pending"}


@pytest.mark.parametrize("wanted", OPEN_STATES)
async def test_in_any_open_state_it_fails(database: Database, worker: SqlWorker, wanted: str) -> None:
    job_id, claimed = await job_in(database, worker, wanted)
    await pass_deadline(database, job_id)
    assert await database.call_value("expire_jobs") == 1
    row = await job(database, job_id)
    assert (row["state"], row["attempt"]) == ("failed", len(claimed))
    assert json.loads(row["error"])["message"].endswith(f"the job was {wanted}")
    assert (await events(database, job_id))[-1][0] == "failed"
    assert await worker.complete(claimed) == ({job_id: "deadline"} if claimed else {})
    assert await worker.renew(claimed) == ({job_id: "deadline"} if claimed else {})
    assert await state(database, job_id) == "failed"


@pytest.mark.parametrize("wanted", ["claimed", "running"])
async def test_the_worker_that_runs_it_is_told(database: Database, worker: SqlWorker, wanted: str) -> None:
    job_id, _ = await job_in(database, worker, wanted)
    await enqueue(database, deadline=None)
    await pass_deadline(database, job_id, job_id + 1)
    async with database.listen("leasehold") as listening:
        assert await database.call_value("expire_jobs") == 2
        await database.fetch("select pg_notify('leasehold', 'end')")
        with trio.fail_after(5):
            heard = [await listening.payloads.receive() for _ in range(2)]
    assert heard == [f"lost:{job_id}:1:deadline", "end"]


@pytest.mark.parametrize("wanted", ["pending", "scheduled", "waiting", "claimed", "running"])
async def test_the_rest_of_its_key_goes_on(database: Database, worker: SqlWorker, wanted: str) -> None:
    job_id, _ = await job_in(database, worker, wanted)
    await enqueue(database, key="k")
    await pass_deadline(database, job_id)
    await database.call("expire_jobs")
    found = await states(database)
    del found[job_id]
    assert sorted(found.values()) == (["pending", "waiting"] if wanted == "waiting" else ["pending"])


async def test_its_chain_has_failed_and_what_waits_for_it_stays_blocked(database: Database) -> None:
    part = await enqueue(database, "part")
    whole = await blocked(database, [part])
    await pass_deadline(database, part)
    assert await database.call_value("expire_jobs") == 1
    assert await chain_state(database, part) == "failed"
    assert await state(database, whole) == "blocked"


async def test_a_blocked_job_and_its_blocker_expire_together(database: Database) -> None:
    part = await enqueue(database, "part")
    whole = await blocked(database, [part])
    await pass_deadline(database, part, whole)
    assert await database.call_value("expire_jobs") == 2
    assert await states(database) == {part: "failed", whole: "failed"}


async def test_the_batch_is_the_most_and_the_oldest_deadline_goes_first(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 5)
    for number in range(1, 6):
        await database.fetch(
            "update leasehold.jobs set deadline = leasehold.clock() - make_interval(secs => $1) where id = $2",
            float(number), number,
        )  # fmt: skip
    assert await database.call_value("expire_jobs", 2) == 2
    assert sorted(n for n, s in (await states(database)).items() if s == "failed") == [4, 5]
    assert [await database.call_value("expire_jobs", 2) for _ in range(3)] == [2, 1, 0]


async def test_without_an_expired_deadline_nothing_changes(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "a", "deadline": "2999-01-01T00:00:00Z"}])
    await worker.claim(1)
    before = await snapshot(database)
    assert await database.call_value("expire_jobs") == 0
    assert await snapshot(database) == before


# Races. What somebody settles right now is left to them.


async def test_a_completion_in_flight_wins(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    claimed = await worker.claim()
    await pass_deadline(database, 1)
    async with open_transaction(database, "settler") as settler:
        await worker.over(settler).complete(claimed)
        with trio.fail_after(5):
            assert await database.call_value("expire_jobs") == 0
        await settler.execute("commit")
    assert await database.call_value("expire_jobs") == 0
    assert await states(database) == {1: "completed"}


async def test_a_completion_that_waits_for_it_is_refused(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    claimed = await worker.claim()
    await pass_deadline(database, 1)
    answers: list[dict[int, str]] = []

    async def complete() -> None:
        async with database.lane("late") as late:
            answers.append(await worker.over(late).complete(claimed, ["late"]))

    async with trio.open_nursery() as nursery, open_transaction(database, "reaper") as reaper:
        assert await reaper.call_value("expire_jobs") == 1
        nursery.start_soon(complete)
        await until_waiting(database, "late")
        await reaper.execute("commit")
    assert answers == [{1: "deadline"}]
    assert await states(database) == {1: "failed"}


async def test_two_reapers_share_the_jobs(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "deadline": "2026-03-01T12:00:00Z"}] * 100)
    counts: list[object] = []

    async def expire(name: str) -> None:
        async with database.lane(name) as lane:
            while (count := await lane.call_value("expire_jobs", 7)) != 0:
                counts.append(count)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(expire, "first")
        nursery.start_soon(expire, "second")
    await expire("last")
    assert sum(int(str(count)) for count in counts) == 100
    assert set((await states(database)).values()) == {"failed"}
