"""How it meets claims and completions stands in test_unique_races.py."""

from __future__ import annotations

from datetime import UTC, datetime

import trio

from leasehold.database import Caller, Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def hold(caller: Caller, *, with_job: bool = True) -> tuple[int, bool]:
    (row,) = await caller.call("lock_unique_jobs", ["k"], [9], [with_job], NOW)
    return row["job_id"], row["is_mine"]


async def test_the_job_that_has_the_key_is_not_claimed_until_the_transaction_ends(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database)
    await database.call("claim_unique_keys", ["k"], [1], NOW)
    async with open_transaction(database, "one") as one:
        assert await hold(one) == (1, False)
        assert await worker.claim() == []
    assert len(await worker.claim()) == 1


async def test_without_the_job_only_the_key_is_held(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    await database.call("claim_unique_keys", ["k"], [1], NOW)
    async with open_transaction(database, "one") as one:
        await hold(one, with_job=False)
        assert len(await worker.claim()) == 1


async def test_a_key_without_a_job_is_just_taken(database: Database) -> None:
    assert await hold(database) == (9, True)


async def test_whoever_waits_for_a_job_holds_no_key_meanwhile(database: Database) -> None:
    await enqueue(database)
    await database.call("claim_unique_keys", ["k"], [1], NOW)

    async def wait() -> None:
        async with database.reserve("second") as connection:
            assert await hold(connection) == (1, False)

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        await first.fetch("select from leasehold.jobs for update")
        nursery.start_soon(wait)
        await until_waiting(database, "second")
        with trio.fail_after(PATIENCE):
            assert await hold(first) == (1, False)
        await first.execute("commit")
