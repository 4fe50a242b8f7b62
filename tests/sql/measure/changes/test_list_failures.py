from __future__ import annotations

from datetime import datetime

from leasehold.database import Database
from tests.support.sql_guards import expire
from tests.support.sql_jobs import pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_worker import frozen_worker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def test_failed_attempts_lost_leases_and_failed_jobs_are_told_latest_first(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        await pile_up(connection, 4)
        jobs = await worker.claim(4)
        await worker.complete(jobs[3:])
        await worker.fail(jobs[:1], retry_in=[5.0])
        await freeze(connection, "2030-01-01 12:01Z")
        await worker.fail(jobs[1:2], discard=[True])
        await freeze(connection, "2030-01-01 12:02Z")
        await expire(connection, jobs[2]["job_id"])
        await connection.call("reap_jobs")
        rows = await connection.call("list_failures", NOON)
        assert [(row["job_id"], row["is_final"]) for row in rows] == [(3, False), (2, True), (1, False)]
        assert (rows[1]["kind"], rows[1]["message"], rows[2]["queue"]) == ("echo", "ValueError: boom", "default")
        assert [row["job_id"] for row in await connection.call("list_failures", NOON.replace(minute=1), 1)] == [3]
