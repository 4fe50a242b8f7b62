from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, identities


async def test_it_says_what_the_handler_said_last_and_when(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        jobs = await worker.given_all([{"kind": "a"}] * 2)
        await freeze(connection, "2026-03-01 12:00Z")
        await connection.call("report_progress", worker.incarnation, *identities(jobs), [0.1, 0.7], ["a", "b"])
        (row,) = await connection.call("get_job_progress", 2)
    assert (row["attempt"], row["fraction"], row["message"]) == (1, 0.7, "b")
    assert row["at"].isoformat() == "2026-03-01T12:00:00+00:00"


async def test_of_a_job_that_said_nothing_or_is_none_there_is_nothing(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}])
    assert await database.call("get_job_progress", 1) == []
    assert await database.call("get_job_progress", 99) == []
