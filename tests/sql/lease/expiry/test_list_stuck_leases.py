from __future__ import annotations

from datetime import timedelta

from leasehold.database import Database
from tests.support.sql_guards import expire
from tests.support.sql_holders import pid_of, row_held
from tests.support.sql_worker import SqlWorker


async def test_only_jobs_whose_lease_is_over_and_whose_row_is_held_are_listed(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 3)
    await expire(database, 1)
    await expire(database, 2)
    async with row_held(database, worker, claimed[1]) as holder, row_held(database, worker, claimed[2]):
        (row,) = await database.call("list_stuck_leases")
        assert (row["job_id"], row["attempt"], row["worker_id"], row["pid"]) == (2, 1, "w1", await pid_of(holder))
        assert row["explanation"].startswith("the lease of attempt 1 of job 2 on worker w1 ran out at ")
        assert f"cannot be taken back: session {row['pid']} " in row["explanation"]
        assert await database.call("list_stuck_leases", timedelta(seconds=60)) == []
