from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_identities import add, give_back, held_job, take
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

LEASED = "select leasehold.is_leased(e, leasehold.clock()) from leasehold.egress_identities e"


async def test_the_lease_of_an_identity_ends_with_the_lease_of_its_job(database: Database) -> None:
    async with database.transaction() as tx:
        await freeze(tx, "2026-01-01 00:00:00+00")
        await add(tx)
        worker = SqlWorker(tx)
        await take(tx, await held_job(tx, worker), worker)
        assert [row[0] for row in await tx.fetch(LEASED)] == [True]
        await freeze(tx, "2026-01-01 00:01:01+00")
        assert [row[0] for row in await tx.fetch(LEASED)] == [False]


async def test_it_ends_when_the_job_is_handed_back(database: Database) -> None:
    await add(database)
    worker = SqlWorker(database)
    job = await held_job(database, worker)
    await take(database, job, worker)
    assert [row[0] for row in await database.fetch(LEASED)] == [True]
    await worker.release([job])
    assert [row[0] for row in await database.fetch(LEASED)] == [False]


async def test_a_lease_without_a_job_ends_when_it_is_returned(database: Database) -> None:
    await add(database)
    taken = await take(database)
    assert [row[0] for row in await database.fetch(LEASED)] == [True]
    await give_back(database, taken)
    assert [row[0] for row in await database.fetch(LEASED)] == [False]
