from __future__ import annotations

from contextlib import suppress

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import WrongState
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker


async def test_it_is_had_between_claims_that_never_pause(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 10)
    done = False

    async def claim(name: str) -> None:
        async with database.reserve(name) as connection:
            worker = SqlWorker(connection, name)
            while not done:
                await worker.release(await worker.claim(1))

    async with trio.open_nursery() as nursery:
        for n in range(3):
            nursery.start_soon(claim, f"w{n}")
        while not done:
            with suppress(WrongState):  # it gives up after two seconds, and a busy machine may take longer for a claim
                await database.call("lock_queue", "default")
                done = True


async def test_it_gives_up_on_a_transaction_that_does_not_end(database: Database) -> None:
    async with open_transaction(database, "claimer") as claimer:
        await claimer.fetch("select pg_advisory_xact_lock_shared(leasehold.queue_lock('q'))")
        with pytest.raises(WrongState, match="somebody claims from queue 'q' in a transaction that does not end"):
            await database.call("lock_queue", "q")
