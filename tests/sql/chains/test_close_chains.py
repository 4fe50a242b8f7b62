from __future__ import annotations

import pytest
import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_chains import broken_chains, complete_all, edges, enqueue_blocked
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue, enqueue_many, snapshot, state
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


async def wait_for(database: Database, chain_id: int) -> None:
    """As somebody who waits for a chain does."""
    await database.execute(f"insert into leasehold.chain_waiters values ({chain_id}, now() + '1 h')")


async def test_the_output_of_the_last_job_is_what_dependents_see(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, kind="a")
    joined = await enqueue_blocked(database, [1, 1])
    await worker.continue_with(await worker.claim(), [{"next": {"kind": "b"}}], ["not kept"])
    assert await edges(database, joined) == [(1, False, None)] * 2
    await complete_all(worker, "b", {"n": [1, 2]})
    assert await edges(database, joined) == [(1, True, {"n": [1, 2]})] * 2
    assert await state(database, joined) == "pending"
    assert await broken_chains(database, is_swept=True) == []


async def test_chains_that_have_not_ended_and_what_is_none_change_nothing(database: Database) -> None:
    for chain_ids in [None, [], [404], [None], [2, 2, 1]]:
        await enqueue(database)
        await enqueue_blocked(database, [1])
        before = await snapshot(database)
        for completed in (True, False):
            assert await database.call_value("close_chains", chain_ids, completed) == []
        assert await snapshot(database) == before


async def test_keys_of_unblocked_jobs_come_back_and_none_without(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    claimed = await worker.given_all([{"kind": "b", "key": "x", "blockers": [1]}, {"kind": "b", "blockers": [1]}])
    await database.call(
        "finish_jobs", [claimed[0]["job_id"]], "completed", None, None, None, None, claimed[0]["run_at"]
    )
    assert await database.call_value("close_chains", [1], True) == ["x"]
    assert (await state(database, 2), await state(database, 3)) == ("waiting", "pending")


async def test_who_waits_for_a_chain_is_told_of_its_end_and_only_then(database: Database, worker: SqlWorker) -> None:
    for end in ["complete", "fail", "cancel", "reap", "continue"]:
        await empty(database)
        await enqueue_many(database, [{"kind": "a", "max_attempts": 1}] * 3)
        await wait_for(database, 1)
        async with listen(database, "leasehold") as listening:
            claimed = await worker.claim()
            await worker.complete(claimed[1:2])
            first = claimed[:1]
            if end == "complete":
                await worker.complete(first)
            elif end == "fail":
                await worker.fail(first)
            elif end == "cancel":
                await database.call("cancel_job", 1)
            elif end == "reap":
                await expire(database, 1)
                await database.call("reap_jobs")
            else:
                await worker.continue_with(first, [{"next": {"kind": "b"}}])
                await complete_all(worker, "b")
            await database.call("wake", "last")
            with trio.fail_after(PATIENCE):
                told: list[str] = []
                while not told or told[-1] != "wake:last":
                    told.append(await listening.payloads.receive())
        assert [payload for payload in told if payload.startswith("closed:")] == ["closed:1"]
        assert await database.fetch("select from leasehold.chain_waiters") == []


async def test_a_retry_that_is_to_come_and_a_continuation_end_nothing(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await wait_for(database, 1)
    await wait_for(database, 2)
    first, second = await worker.claim()
    await worker.fail([first])
    await worker.continue_with([second], [{"next": {"kind": "b"}}])
    assert len(await database.fetch("select from leasehold.chain_waiters")) == 2


async def test_a_chain_that_does_not_complete_releases_nobody(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for end in ["fail", "cancel", "reap"]:
        await empty(database)
        with subtests.test(end=end):
            await enqueue_many(database, [{"kind": "a", "max_attempts": 1}])
            joined = await enqueue_blocked(database, [1])
            claimed = await worker.claim()
            if end == "fail":
                await worker.fail(claimed)
            elif end == "cancel":
                await database.call("cancel_job", 1)
            else:
                await expire(database, 1)
                await database.call("reap_jobs")
            assert (await state(database, joined), await edges(database, joined)) == ("blocked", [(1, False, None)])
