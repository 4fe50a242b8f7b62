from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import Any, cast

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UnknownJob, WrongState
from tests.support.sql_chains import chain, continued, ended, enqueue_blocked
from tests.support.sql_jobs import empty, enqueue, events, job, snapshot, state
from tests.support.sql_waits import heard, meet
from tests.support.sql_worker import SqlWorker

OPEN_STATES = ("pending", "scheduled", "waiting", "blocked", "claimed", "running")


async def complete(database: Database, chain_id: int, output: object = None, continuation: object = None) -> list[int]:
    new = await database.call_value(
        "complete_chain", chain_id, json.dumps(output), None if continuation is None else json.dumps(continuation)
    )
    assert isinstance(new, list)
    return cast("list[int]", new)


async def open_job(database: Database, worker: SqlWorker, state: str) -> int:
    """A job of key `k` in this state."""
    if state == "waiting":
        await enqueue(database, key="k")
    if state == "blocked":
        return await enqueue_blocked(database, [await enqueue(database, "other")], key="k")
    job_id = await enqueue(database, key="k", delay=timedelta(hours=1) if state == "scheduled" else None)
    if state in ("claimed", "running"):
        claimed = await worker.claim()
        if state == "running":
            await worker.start(claimed)
    return job_id


async def test_in_any_open_state_the_job_completes_without_a_worker(database: Database, worker: SqlWorker) -> None:
    for was in OPEN_STATES:
        await empty(database)
        job_id = await open_job(database, worker, was)
        assert await complete(database, job_id, {"approved": True}) == []
        row = await chain(database, job_id)
        assert (row["state"], json.loads(row["output"])) == ("completed", {"approved": True})
        done = await job(database, job_id)
        held = was in ("claimed", "running")
        assert (done["worker_id"], done["attempt"]) == (("w1", 1) if held else (None, 0))
        assert ((done["claimed_at"] is not None), (done["started_at"] is not None)) == (held, was == "running")


async def test_an_event_says_who_it_was_and_what_the_job_was_doing(database: Database, worker: SqlWorker) -> None:
    job_id = await open_job(database, worker, "running")
    await complete(database, job_id)
    rows = await database.call("get_job_timeline", job_id)
    assert sorted(row["event"] for row in rows) == [
        "claimed",
        "completed",
        "completed_from_outside",
        "created",
        "started",
    ]
    [row] = [row for row in rows if row["event"] == "completed_from_outside"]
    user = await database.fetch("select session_user::text")
    assert row["message"] == f"by {user[0][0]}, while it was running"
    assert json.loads(row["detail"])["was"] == "running"


async def test_its_worker_is_told_and_whatever_it_still_writes_is_refused(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for was in ["claimed", "running"]:
        await empty(database)
        with subtests.test(was=was):
            job_id = await enqueue(database)
            claimed = await worker.claim()
            if was == "running":
                await worker.start(claimed)
            assert await heard(database, partial(complete, database, job_id, "outside")) == [
                f"lost:{job_id}:1:already_completed"
            ]
            assert await worker.renew(claimed) == {job_id: "already_completed"}
            assert await worker.complete(claimed, ["inside"]) == {job_id: "already_completed"}
            assert await worker.continue_with(claimed, [{"next": {"kind": "more"}}]) == {
                job_id: ("already_completed", None)
            }
            assert (await chain(database, job_id))["output"] == json.dumps("outside")


async def test_it_completes_the_job_that_the_chain_has_come_to(database: Database, worker: SqlWorker) -> None:
    first, second = await continued(database, worker, "pay", "approve")
    await complete(database, first, "yes")
    assert (await job(database, second))["output"] == json.dumps("yes")
    assert (await chain(database, first))["state"] == "completed"


async def test_a_continuation_goes_on_with_the_chain_and_may_begin_others(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database, "approve", priority=3)
    part, after = await complete(
        database,
        chain_id,
        continuation={"jobs": [{"kind": "part"}], "next": {"kind": "ship", "blockers": [{"position": 1}]}},
    )
    row = await chain(database, chain_id)
    assert (row["state"], row["job_id"], row["job_state"], row["jobs"], row["open_blockers"]) == (
        "open",
        after,
        "blocked",
        2,
        1,
    )
    assert await state(database, part) == "pending"
    assert (await job(database, after))["priority"] == 3


async def test_what_waits_for_the_chain_is_freed_and_its_key_goes_on(database: Database, worker: SqlWorker) -> None:
    part = await enqueue(database, "part", key="k")
    behind = await enqueue(database, "part", key="k")
    whole = await enqueue_blocked(database, [part])
    await complete(database, part, {"n": 1})
    assert (await state(database, whole), await state(database, behind)) == ("pending", "pending")
    [edge] = await database.call("get_job_blockers", whole)
    assert json.loads(edge["output"]) == {"n": 1}


async def test_a_chain_that_is_over_cannot_be_completed(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for over in ["completed", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(over=over):
            chain_id = await ended(database, worker, over)
            before = await snapshot(database)
            with pytest.raises(WrongState, match=f"chain {chain_id} is {over} and cannot be completed"):
                await complete(database, chain_id)
            assert await snapshot(database) == before


async def test_a_chain_that_is_not_there_cannot_be_completed(database: Database, worker: SqlWorker) -> None:
    _, second = await continued(database, worker, "pay", "pack")
    for chain_id in (99, 0, second):
        with pytest.raises(UnknownJob, match=f"no chain {chain_id}"):
            await complete(database, chain_id)


async def test_a_continuation_that_is_refused_changes_nothing(database: Database) -> None:
    chain_id = await enqueue(database)
    before = await snapshot(database)
    refused: list[Any] = [[], {"nxet": {}}, {"next": {"kind": ""}}, {"jobs": {}}]
    for wrong in refused:
        with pytest.raises(BadInput):
            await complete(database, chain_id, None, wrong)
    assert await snapshot(database) == before


async def test_of_a_worker_and_somebody_outside_who_complete_together_exactly_one_counts(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database)
    claimed = await worker.claim()
    with pytest.raises(WrongState, match=f"chain {chain_id} is completed and cannot be completed"):
        await meet(
            database,
            lambda first: worker.over(first).complete(claimed, ["inside"]),
            lambda second: second.call("complete_chain", chain_id, '"outside"'),
        )
    assert (await chain(database, chain_id))["output"] == '"inside"'


async def test_when_the_worker_continues_at_that_moment_its_successor_is_completed(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database)
    claimed = await worker.claim()
    await meet(
        database,
        lambda first: worker.over(first).continue_with(claimed, [{"next": {"kind": "next"}}]),
        lambda second: second.call("complete_chain", chain_id, '"outside"'),
    )
    row = await chain(database, chain_id)
    assert (row["state"], row["jobs"], row["job_kind"], row["output"]) == ("completed", 2, "next", '"outside"')
    assert [event for event, _ in await events(database, chain_id)].count("completed") == 1


async def test_of_two_from_outside_one_completes_and_the_other_is_told_so(database: Database) -> None:
    chain_id = await enqueue(database)
    with pytest.raises(WrongState):
        await meet(
            database,
            lambda first: first.call("complete_chain", chain_id, "1"),
            lambda second: second.call("complete_chain", chain_id, "2"),
        )
    assert (await chain(database, chain_id))["output"] == "1"
