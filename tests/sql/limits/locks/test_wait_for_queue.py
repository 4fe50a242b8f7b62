from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_waits import be_patient, meet_twice, open_transaction


async def test_a_free_queue_is_had_at_once_until_the_transaction_ends(database: Database) -> None:
    async with open_transaction(database, "first") as first:
        assert await first.call_value("wait_for_queue", "q")
        assert not await database.call_value("wait_for_queue", "q")
        assert await database.call_value("wait_for_queue", "other")
        await first.execute("commit")
        assert await database.call_value("wait_for_queue", "q")


async def test_one_that_becomes_free_meanwhile_is_had(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database, "wait_for_queue")
    assert await meet_twice(database, lambda each: each.call_value("wait_for_queue", "q"))


async def test_a_shared_lock_keeps_it_too(database: Database) -> None:
    async with open_transaction(database, "claimer") as claimer:
        await claimer.fetch("select pg_advisory_xact_lock_shared(leasehold.queue_lock('q'))")
        assert not await database.call_value("wait_for_queue", "q")
