from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import continued
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_it_names_every_job_of_the_chain_and_no_other(database: Database, worker: SqlWorker) -> None:
    ids = await continued(database, worker, "pay", "pack", "ship")
    await enqueue(database)
    rows = await database.call("chain_jobs", ids[0])
    assert sorted((row["job_id"], row["chain_position"]) for row in rows) == [(ids[0], 0), (ids[1], 1), (ids[2], 2)]
    assert await database.call("chain_jobs", ids[1]) == []
    assert await database.call("chain_jobs", 99) == []
