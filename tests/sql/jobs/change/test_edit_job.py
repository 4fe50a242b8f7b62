from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leasehold.database import Caller, Database
from leasehold.errors import BadInput, UnknownJob, WrongState
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, states
from tests.support.sql_waits import heard, meet, open_transaction
from tests.support.sql_worker import SqlWorker


async def edit(database: Caller, job_id: int = 1, **changes: object) -> object:
    return await database.call_value("edit_job", job_id, timeout=None, **changes)


async def test_what_is_given_changes_and_the_timeline_has_the_old_and_the_new(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for state in ["pending", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(state=state):
            await enqueue(database, args='{"a": 1}', metadata='{"m": 1}', priority=2)
            if state == "failed":
                await worker.fail(await worker.claim(), discard=[True])
            elif state == "cancelled":
                await database.call("cancel_job", 1)
            changes: dict[str, Any] = {
                "args": '{"a": 2}',
                "priority": 5,
                "queue": "q",
                "max_attempts": 3,
                "metadata": '{"m": 2}',
            }
            assert await edit(database, reason="typo", **changes) == state
            row = await job(database, 1)
            assert (row["args"], row["priority"], row["queue"], row["max_attempts"]) == ('{"a": 2}', 5, "q", 3)
            (entry,) = [row for row in await database.call("get_job_timeline", 1) if row["event"] == "edited"]
            assert entry["message"] == "typo"
            assert json.loads(entry["detail"]) == {
                "old": {"args": {"a": 1}, "priority": 2, "queue": "default", "max_attempts": 20, "metadata": {"m": 1}},
                "new": {"args": {"a": 2}, "priority": 5, "queue": "q", "max_attempts": 3, "metadata": {"m": 2}},
            }


async def test_what_is_not_given_stays_and_is_not_told(database: Database) -> None:
    await enqueue(database, args='{"a": 1}', metadata='{"m": 1}')
    await edit(database, priority=1)
    row = await job(database, 1)
    assert (row["args"], row["metadata"], row["queue"]) == ('{"a": 1}', '{"m": 1}', "default")
    (entry,) = [row for row in await database.call("get_job_timeline", 1) if row["event"] == "edited"]
    assert json.loads(entry["detail"]) == {"old": {"priority": 0}, "new": {"priority": 1}}


async def test_a_failed_job_runs_with_its_new_args_after_a_retry(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(args='{"a": 1}'), discard=[True])
    await edit(database, args='{"a": 2}')
    await database.call("retry_job", 1)
    claimed = await worker.claim_one()
    assert (claimed["args"], claimed["attempt"]) == ('{"a": 2}', 2)
    assert [event for event, _ in await events(database, 1)] == [
        "created",
        "claimed",
        "started",
        "failed",
        "edited",
        "retried",
        "claimed",
    ]


async def test_a_job_can_be_put_off_and_brought_forward(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    assert await edit(database, run_at=datetime.now(UTC) + timedelta(hours=1)) == "scheduled"
    assert await worker.claim() == []
    assert await edit(database, run_at=datetime.now(UTC) - timedelta(hours=1)) == "pending"
    assert len(await worker.claim()) == 1


async def test_jobs_of_a_key_change_places(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}] * 2)
    assert await states(database) == {1: "pending", 2: "waiting"}
    assert await edit(database, 1, run_at=datetime.now(UTC) + timedelta(hours=1)) == "scheduled"
    assert await states(database) == {1: "scheduled", 2: "pending"}
    assert await edit(database, 1, run_at=datetime.now(UTC)) == "waiting"
    assert await edit(database, 1, queue="other") == "pending"


async def test_idle_workers_are_woken(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, delay=timedelta(hours=1))
    await worker.register()
    await worker.claim()
    assert await heard(database, lambda: edit(database, run_at=datetime.now(UTC), queue="q")) == ["wake:q"]


async def test_a_job_that_is_held_or_done_cannot_be_edited(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for state in ["claimed", "running", "completed"]:
        await empty(database)
        with subtests.test(state=state):
            claimed = await worker.given()
            if state == "running":
                await worker.start(claimed)
            elif state == "completed":
                await worker.complete(claimed)
            before = await snapshot(database)
            with pytest.raises(WrongState, match=f"job 1 is {state} and cannot be edited"):
                await edit(database, args="{}")
            assert await snapshot(database) == before


async def test_a_job_that_is_not_there_cannot_be_edited(database: Database) -> None:
    with pytest.raises(UnknownJob, match="there is no job 9"):
        await edit(database, 9, priority=1)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "give at least one of args, priority, queue, run_at, max_attempts, metadata"),
    ({"reason": "why"}, "give at least one of"),
    ({"args": "[1]"}, "args must be a JSON object, not array"),
    ({"metadata": "null"}, "metadata must be a JSON object, not null"),
    ({"queue": ""}, "queue must have 1 to 200 bytes, not 0"),
    ({"max_attempts": 0}, "max_attempts must be from 1 to 1000000, not 0"),
]


async def test_bad_values_are_refused(database: Database) -> None:
    for changes, complaint in REFUSED:
        await enqueue(database)
        before = await snapshot(database)
        with pytest.raises(BadInput, match=complaint):
            await edit(database, **changes)
        assert await snapshot(database) == before


async def test_a_time_says_nothing_about_a_failed_job(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(), discard=[True])
    with pytest.raises(WrongState, match="job 1 is failed: run_at says nothing until it is retried"):
        await edit(database, run_at=datetime.now(UTC))


async def test_an_edit_that_meets_a_claim_is_refused_and_never_changes_what_runs(database: Database) -> None:
    await enqueue(database, args='{"a": 1}')
    with pytest.raises(WrongState, match="job 1 is claimed and cannot be edited: a worker holds it"):
        await meet(database, lambda first: SqlWorker(first).claim(), lambda second: edit(second, args='{"a": 2}'))
    assert (await job(database, 1))["args"] == '{"a": 1}'


async def test_a_claim_passes_over_a_job_that_is_being_edited(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, args='{"a": 1}')
    async with open_transaction(database, "editor") as editor:
        await edit(editor, args='{"a": 2}')
        assert await worker.claim() == []
        await editor.execute("commit")
    assert (await worker.claim_one())["args"] == '{"a": 2}'
