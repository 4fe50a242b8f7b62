from __future__ import annotations

from typing import Any

import pytest

from leasehold.database import Caller, Database
from tests.support.sql_jobs import enqueue_many, snapshot, states
from tests.support.sql_waits import meet_twice
from tests.support.sql_worker import SqlWorker

Changes = dict[int, tuple[bool, str | None, str | None]]


async def delete(caller: Caller, *, dry_run: bool = False, **filters: Any) -> Changes:
    """For each job whether it was removed, its state before, and why it was not."""
    rows = await caller.call("delete_jobs", timeout=None, dry_run=dry_run, **filters)
    return {row["job_id"]: (row["changed"], row["was"], row["reason"]) for row in rows}


@pytest.fixture
async def jobs(database: Database, worker: SqlWorker) -> Database:
    """1 is claimed, 2 failed, 3 pending in another queue, 4 scheduled, 5 waited for by 6."""
    await enqueue_many(
        database,
        [{"kind": "hold"}, {"kind": "fail"}, {"kind": "a", "queue": "q"}, {"kind": "a", "delay": 60}, {"kind": "part"}],
    )
    claimed = await worker.given_all([{"kind": "whole", "blockers": [5]}], kinds=["hold", "fail"])
    await worker.fail([job for job in claimed if job["kind"] == "fail"], discard=[True])
    return database


async def test_all_that_nobody_holds_go_and_the_others_are_answered_with_the_reason(jobs: Database) -> None:
    assert await delete(jobs) == {
        2: (True, "failed", None),
        3: (True, "pending", None),
        4: (True, "scheduled", None),
        5: (False, "pending", "chain 5 cannot be deleted: job 6 (whole) waits for it"),
        6: (True, "blocked", None),
    }
    assert await states(jobs) == {1: "claimed", 5: "pending"}


async def test_a_dry_run_says_the_same_and_changes_nothing(jobs: Database) -> None:
    before = await snapshot(jobs)
    told = await delete(jobs, dry_run=True)
    assert await snapshot(jobs) == before
    assert told == await delete(jobs)


async def test_each_id_that_was_named_is_answered(jobs: Database) -> None:
    assert await delete(jobs, job_ids=[1, 3, 4, 99], queue="q") == {
        1: (False, "claimed", "it is claimed"),
        3: (True, "pending", None),
        4: (False, "scheduled", "it is scheduled and does not match"),
        99: (False, None, "there is no job 99"),
    }


async def test_of_two_that_remove_a_job_at_once_the_second_says_that_it_is_no_more(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}])
    [row] = await meet_twice(database, lambda each: each.call("delete_jobs", job_ids=[1], dry_run=False))
    assert (row["changed"], row["was"], row["now"]) == (False, "pending", None)


async def test_a_dry_run_reckons_with_what_would_be_gone_by_then(database: Database, worker: SqlWorker) -> None:
    """A job waits for one that was made later: that one can go because the other went before."""
    claimed = await worker.given_all([{"kind": "a"}])
    await worker.block(claimed, [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}])
    told = await delete(database, dry_run=True)
    assert told == {1: (True, "blocked", None), 2: (True, "pending", None)}
    assert told == await delete(database)


async def test_many_are_removed_without_a_subtransaction_for_each(database: Database) -> None:
    """Postgres keeps track of 64 of them in memory; beyond that everybody's look at a row goes to disk."""
    await enqueue_many(database, [{"kind": "a"}] * 200)
    before = await next_transaction(database)
    assert len(await delete(database)) == 200
    assert await next_transaction(database) - before < 100


async def next_transaction(database: Database) -> int:
    [row] = await database.fetch("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as id")
    return row["id"]
