from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_chains import chain, chain_state, continued, ended, enqueue_blocked
from tests.support.sql_jobs import empty, enqueue, state
from tests.support.sql_waits import meet
from tests.support.sql_worker import SqlWorker, insist


async def test_the_job_that_the_chain_has_come_to_is_cancelled(database: Database, worker: SqlWorker) -> None:
    first, second = await continued(database, worker, "pay", "pack")
    assert await database.call_value("cancel_chain", first, "no stock") == "pending"
    assert (await chain_state(database, first), await state(database, first)) == ("cancelled", "completed")
    assert await state(database, second) == "cancelled"
    assert json.loads((await chain(database, first))["error"])["message"] == "no stock"


async def test_what_waits_for_it_goes_on_waiting(database: Database) -> None:
    part = await enqueue(database, "part")
    whole = await enqueue_blocked(database, [part])
    await database.call("cancel_chain", part)
    assert await state(database, whole) == "blocked"


async def test_a_chain_that_is_over_cannot_be_cancelled(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for over in ["completed", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(over=over), pytest.raises(WrongState, match=f"is {over} and cannot be cancelled"):
            await database.call("cancel_chain", await ended(database, worker, over))


async def test_a_chain_that_is_not_there_cannot_be_cancelled(database: Database) -> None:
    with pytest.raises(UnknownJob, match="no chain 7"):
        await database.call("cancel_chain", 7)


async def test_a_chain_that_continues_at_that_moment_is_cancelled_all_the_same(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database)
    claimed = await worker.claim()
    seen = await meet(
        database,
        lambda first: worker.over(first).continue_with(claimed, [{"next": {"kind": "next"}}]),
        lambda connection: insist(lambda: connection.call_value("cancel_chain", chain_id)),
    )
    assert seen == "pending"
    row = await chain(database, chain_id)
    assert (row["state"], row["jobs"]) == ("cancelled", 2)
