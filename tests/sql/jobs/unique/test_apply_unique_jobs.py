"""As enqueue_jobs uses it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_jobs import enqueue_many, job, snapshot, states
from tests.support.sql_unique import enqueue_one, enqueue_unique
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

REPLACE = {"key": "k", "on_conflict": "replace"}
EXTEND = {"key": "k", "on_conflict": "extend"}
OVERWRITE = {"key": "k", "on_conflict": "overwrite"}


async def test_replacing_brings_the_new_args_and_leaves_what_is_not_given(database: Database) -> None:
    await enqueue_one(database, unique=REPLACE, args={"v": 1}, priority=3, metadata={"m": 1}, delay=60)
    before = await job(database, 1)
    assert await enqueue_one(database, unique=REPLACE, args={"v": 2}) == (1, "replaced")
    after = await job(database, 1)
    assert (after["args"], after["priority"], after["metadata"]) == ('{"v": 2}', 3, '{"m": 1}')
    assert after["run_at"] == before["run_at"]
    await enqueue_one(database, unique=REPLACE, priority=5, metadata={"m": 2})
    after = await job(database, 1)
    assert (after["args"], after["priority"], after["metadata"]) == ("{}", 5, '{"m": 2}')


async def test_extending_moves_the_time_and_nothing_else(database: Database) -> None:
    await enqueue_one(database, unique=EXTEND, args={"v": 1}, delay=60)
    assert await enqueue_one(database, unique=EXTEND, args={"v": 2}, delay=3600, priority=9) == (1, "extended")
    row = await job(database, 1)
    assert (row["state"], row["args"], row["priority"]) == ("scheduled", '{"v": 1}', 0)
    assert timedelta(minutes=59) < row["run_at"] - datetime.now(UTC) <= timedelta(minutes=60)


async def test_overwriting_does_both(database: Database) -> None:
    await enqueue_one(database, unique=OVERWRITE, args={"v": 1})
    assert await enqueue_one(database, unique=OVERWRITE, args={"v": 2}, delay=3600) == (1, "overwritten")
    row = await job(database, 1)
    assert (row["state"], row["args"]) == ("scheduled", '{"v": 2}')


async def test_a_job_may_be_moved_to_now_and_idle_workers_are_woken(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database, unique=EXTEND, delay=3600)
    await worker.register()
    await worker.claim()
    async with listen(database, "leasehold") as listening:
        assert await enqueue_one(database, unique=EXTEND) == (1, "extended")
        with trio.fail_after(PATIENCE):
            assert await listening.payloads.receive() == "wake:default"
    assert len(await worker.claim()) == 1


async def test_a_pending_job_that_is_put_off_gives_its_key_on(database: Database) -> None:
    await enqueue_one(database, unique=EXTEND, key="shop")
    await enqueue_many(database, [{"kind": "a", "key": "shop"}])
    await enqueue_one(database, unique=EXTEND, delay=60)
    assert sorted((await states(database)).values()) == ["pending", "scheduled"]
    await enqueue_one(database, unique=EXTEND)
    assert sorted((await states(database)).values()) == ["pending", "waiting"]


async def test_a_held_job_stays_as_it_is_and_the_answer_says_so(database: Database, worker: SqlWorker) -> None:
    cases: list[object] = [REPLACE, EXTEND, OVERWRITE]
    for unique in cases:
        for is_running in [False, True]:
            await enqueue_one(database, unique=unique)
            claimed = await worker.claim()
            if is_running:
                await worker.start(claimed)
            before = await snapshot(database)
            assert await enqueue_one(database, unique=unique, args={"v": 2}, delay=60) == (1, "existing")
            assert await snapshot(database) == before


async def test_of_several_in_one_call_the_last_one_counts(database: Database) -> None:
    jobs = [{"kind": "a", "args": {"v": n}, "unique": REPLACE} for n in range(4)]
    del jobs[3]["args"]
    answers = await enqueue_unique(database, *jobs[:3], {"kind": "a", "unique": EXTEND, "delay": 60, "args": {"v": 9}})
    assert answers == [(1, "created"), (1, "replaced"), (1, "replaced"), (1, "extended")]
    row = await job(database, 1)
    assert (json.loads(row["args"]), row["state"]) == ({"v": 2}, "scheduled")


async def test_a_retrying_job_is_brought_forward(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database, unique=EXTEND)
    await worker.fail(await worker.claim(), retry_in=[3600.0])
    await enqueue_one(database, unique=EXTEND)
    row = await job(database, 1)
    assert (row["state"], row["attempt"]) == ("pending", 1)
