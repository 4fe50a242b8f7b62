from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_fleet import command
from tests.support.sql_worker import SqlWorker


async def test_a_command_is_shown_with_its_worker(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    number = await command(database, "w1", "cancel_job", job_id=7)
    (row,) = await database.call("get_command", number)
    assert (row["worker_id"], row["incarnation"], row["command"], row["args"], row["state"]) == (
        "w1",
        worker.incarnation,
        "cancel_job",
        '{"job_id": 7}',
        "pending",
    )
    assert await database.call("get_command", number + 1) == []
