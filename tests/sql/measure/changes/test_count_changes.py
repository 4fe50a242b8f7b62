from __future__ import annotations

from datetime import datetime, timedelta

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def test_it_counts_what_list_changes_lists_by_second(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        for at in ("12:00:00.1", "12:00:00.9", "12:00:02"):
            await freeze(connection, f"2030-01-01 {at}Z")
            await worker.complete(await worker.given())
        await connection.call("retry_job", await enqueue(connection, delay=timedelta(seconds=10)))
        noon = int(NOON.timestamp())
        rows = await connection.call("count_changes", NOON, NOON + timedelta(seconds=10))
        assert {row["second"] - noon: (row["changes"], int(row["ids"])) for row in rows} == {0: (2, 3), 2: (2, 7)}
        assert await connection.call("count_changes", NOON, NOON) == []
        assert await connection.call("count_changes", NOON + timedelta(seconds=3), NOON + timedelta(seconds=9)) == []
