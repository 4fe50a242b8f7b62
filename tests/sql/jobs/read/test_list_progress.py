from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_jobs_that_have_said_something_are_shown(database: Database) -> None:
    worker = SqlWorker(database)
    for _ in range(2):
        await enqueue(database)
    first, second = await worker.claim(2)
    identity = [first["job_id"]], [first["attempt"]]
    await database.call("report_progress", worker.incarnation, *identity, [0.5], ["half"])
    [row] = await database.call("list_progress", [first["job_id"], second["job_id"], 99])
    assert (row["job_id"], row["attempt"], row["fraction"], row["message"]) == (first["job_id"], 1, 0.5, "half")
    assert await database.call("list_progress", []) == []
