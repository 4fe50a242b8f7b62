from __future__ import annotations

from leasehold.actors.upkeep.scheduler import recover_stale
from leasehold.database import Database
from tests.support.sql_jobs import enqueue, job
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker


async def test_at_the_start_of_a_scheduler_process_jobs_whose_lease_has_run_out_are_taken_back(
    database: Database,
) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue(connection)
        await SqlWorker(connection).claim(lease=60)
        await freeze(connection, "2026-03-01 12:02Z")
        await recover_stale(connection)
        assert (await job(connection, 1))["state"] in {"pending", "scheduled"}
