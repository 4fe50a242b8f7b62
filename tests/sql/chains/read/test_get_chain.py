from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from tests.support.sql_chains import chain, continued, ended, enqueue_blocked
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_worker import SqlWorker


async def test_a_plain_job_is_a_chain_of_one(database: Database) -> None:
    row = await chain(database, await enqueue(database, "greet", queue="mail"))
    assert (row["chain_id"], row["state"], row["kind"], row["queue"], row["jobs"]) == (1, "open", "greet", "mail", 1)
    assert (row["job_id"], row["job_kind"], row["job_state"]) == (1, "greet", "pending")
    assert (row["output"], row["error"], row["finished_at"], row["open_blockers"]) == (None, None, None, 0)


async def test_it_has_the_kind_of_the_first_job_and_the_state_of_the_last(
    database: Database, worker: SqlWorker
) -> None:
    first, second, third = await continued(database, worker, "pay", "pack", "ship")
    row = await chain(database, first)
    assert (row["kind"], row["job_id"], row["job_kind"], row["jobs"]) == ("pay", third, "ship", 3)
    assert (row["state"], row["job_state"]) == ("open", "pending")
    assert await database.call("get_chain", second) == []


async def test_a_chain_that_is_over_has_the_state_of_its_last_job(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for state in ["completed", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(state=state):
            row = await chain(database, await ended(database, worker, state, output={"n": 1}))
            assert (row["state"], row["job_state"]) == (state, state)
            assert row["finished_at"] is not None
            assert row["output"] == (json.dumps({"n": 1}) if state == "completed" else None)
            assert (row["error"] is None) == (state == "completed")


async def test_a_retry_of_the_last_job_opens_it_again(database: Database, worker: SqlWorker) -> None:
    chain_id = await ended(database, worker, "failed")
    await database.call("retry_job", chain_id)
    row = await chain(database, chain_id)
    assert (row["state"], row["finished_at"], row["output"]) == ("open", None, None)
    assert json.loads(row["error"])["message"] == "boom"


async def test_it_says_how_many_chains_the_last_job_waits_for(database: Database, worker: SqlWorker) -> None:
    done = await ended(database, worker, "completed")
    waiting = await enqueue_blocked(database, [done, await enqueue(database), await enqueue(database)])
    row = await chain(database, waiting)
    assert (row["state"], row["job_state"], row["open_blockers"]) == ("open", "blocked", 2)


async def test_when_retention_has_forgotten_the_first_job_the_rest_still_stands(
    database: Database, worker: SqlWorker
) -> None:
    first, second = await continued(database, worker, "pay", "pack")
    await database.fetch("delete from leasehold.finished_jobs where id = $1", first)
    row = await chain(database, first)
    assert (row["state"], row["kind"], row["created_at"], row["job_id"], row["jobs"]) == ("open", None, None, second, 2)


async def test_there_is_no_row_for_what_is_no_chain(database: Database) -> None:
    for chain_id in [0, -1, 7, 2**63 - 1, None]:
        assert await database.call("get_chain", chain_id) == []
