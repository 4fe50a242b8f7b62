"""What a worker reads that finds nothing to do: nothing of the jobs that are for later, however many they are."""

from __future__ import annotations

from datetime import timedelta

from leasehold.database import Database, ReservedConnection
from tests.sql.plans.test_plans import MANY, Calls, empty, few_and_analyzed, too_much_whatever_is_known
from tests.support.sql_jobs import pile_up
from tests.support.sql_work import UNDISTURBED
from tests.support.sql_worker import SqlWorker

EVERY = timedelta(minutes=1)
LATER = "update leasehold.jobs set state = 'scheduled', run_at = now() + interval '30 min' where kind = 'later'"


def looks(reserved: ReservedConnection) -> Calls:
    worker = SqlWorker(reserved)
    return {
        "look": (1, lambda: reserved.call("look_for_work", [], EVERY, incarnation=worker.incarnation)),
        "next claim": (1, lambda: reserved.call("next_claim_in")),
    }


async def look_often(reserved: ReservedConnection) -> None:
    """Until this connection has made the plans that it will keep."""
    for _ in range(10):
        for _, look in looks(reserved).values():
            await look()


async def test_an_idle_worker_reads_no_job_that_is_for_later_or_held(fresh_database: Database) -> None:
    """Neither over a new connection, nor over one with the plans of an empty queue or of a small one."""
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with (
        database.reserve("new") as new,
        database.reserve("used") as used,
        database.reserve("analyzed") as analyzed,
    ):
        await empty(database, used)
        await look_often(used)
        await few_and_analyzed(database, analyzed)
        await look_often(analyzed)
        await database.execute("delete from leasehold.jobs")
        await pile_up(database, MANY, "held")
        await SqlWorker(database).claim(MANY)
        await pile_up(database, MANY, "later")
        await database.execute(LATER)
        each = {reserved: looks(reserved) for reserved in (new, used, analyzed)}
        assert await too_much_whatever_is_known(database, each, "jobs") == {}
