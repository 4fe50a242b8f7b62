"""A claim reads no more for any number of suspects before it, whatever Postgres believes to be in the tables."""

from __future__ import annotations

from leasehold.database import Database, ReservedConnection
from tests.sql.plans.test_plans import (
    BATCH,
    MANY,
    Calls,
    empty,
    few_and_analyzed,
    too_much,
    too_much_whatever_is_known,
    work_of,
)
from tests.support.sql_jobs import pile_up
from tests.support.sql_limits import limit, pile_up_group
from tests.support.sql_work import UNDISTURBED
from tests.support.sql_worker import SqlWorker


async def fill(database: Database) -> None:
    """Suspects, with and without limits, before other jobs."""
    await pile_up(database, MANY, "a", priority=1)
    await pile_up_group(database, "g", MANY, queue="limited")
    await limit(database, 50, queue="limited", group="*")
    await database.execute("update leasehold.jobs set crashes = 1 where id % 4 < 3")
    await database.execute("update leasehold.jobs set crashes = 2 where id % 4 = 2")
    await pile_up(database, MANY, "a")
    await pile_up_group(database, "g", MANY, queue="limited")


def claims(holder: SqlWorker, reserved: ReservedConnection) -> Calls:
    fresh = SqlWorker(reserved, "fresh")
    return {
        "first claim": (BATCH, lambda: fresh.claim(BATCH)),
        "claim of one that has its suspects": (BATCH, lambda: holder.over(reserved).claim(BATCH)),
        "small claim": (20, lambda: fresh.claim(1)),
    }


async def test_a_claim_pays_for_its_batch_and_not_for_the_suspects(fresh_database: Database) -> None:
    """Neither of a new connection, nor of one with the plans of an empty queue."""
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with database.reserve("new") as new, database.reserve("used") as used:
        await empty(database, used)
        await fill(database)
        holder = SqlWorker(database, "holder")
        await holder.register(slots=10)
        await holder.claim(BATCH)
        each = {reserved: claims(holder, reserved) for reserved in (new, used)}
        assert await too_much_whatever_is_known(database, each, "jobs") == {}


async def test_a_claim_pays_for_its_batch_with_plans_for_a_small_queue_that_was_analyzed(
    fresh_database: Database,
) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with database.reserve("used") as used:
        await few_and_analyzed(database, used)
        await fill(database)
        holder = SqlWorker(database, "holder")
        await holder.register(slots=10)
        await holder.claim(BATCH)
        assert await too_much(used, claims(holder, used)) == {}


async def test_ten_times_as_many_suspects_cost_no_more(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    pages: list[int] = []
    async with database.reserve("claimer") as reserved:
        worker = SqlWorker(reserved)
        for suspects in (500, 4500):
            await pile_up(database, suspects, "a", priority=1)
            await database.execute("update leasehold.jobs set crashes = 1 where crashes is null and priority = 1")
            await pile_up(database, 100, "a")
            await database.execute("vacuum leasehold.jobs")  # the test has changed jobs while they were pending
            pages.append((await work_of(reserved, lambda: worker.claim(10))).pages)
    assert pages[1] < 1.5 * pages[0]
