from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import continued, ended, enqueue_blocked
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_the_view_shows_every_chain_once_as_get_chains_does(database: Database, worker: SqlWorker) -> None:
    for state in ("completed", "failed", "cancelled"):
        await ended(database, worker, state, output=[1])
    await continued(database, worker, "pay", "pack", "ship")
    await enqueue_blocked(database, [await enqueue(database, "part"), 1])
    seen = await database.fetch("select * from leasehold.all_chains order by chain_id")
    asked = await database.call("get_chains", [row["chain_id"] for row in seen])
    assert [tuple(row) for row in seen] == [tuple(row) for row in asked]
    assert len({row["chain_id"] for row in seen}) == len(seen) == 6
