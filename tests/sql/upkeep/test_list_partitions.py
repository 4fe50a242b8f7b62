from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.support.sql_waits import freeze


async def test_each_partition_says_from_when_until_when_it_takes_rows(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await connection.execute("set timezone = 'Pacific/Auckland'")
        await freeze(connection, "2030-05-04 12:00Z")
        await connection.call("ensure_partitions", 0)
        rows = await connection.fetch(
            "select * from leasehold.list_partitions() where since >= '2030-01-01' order by parent"
        )
    day = datetime(2030, 5, 4, tzinfo=UTC), datetime(2030, 5, 5, tzinfo=UTC)
    assert [tuple(row) for row in rows] == [
        (parent, f"{parent}_20300504", *day) for parent in ("finished_jobs", "job_events", "job_logs")
    ]
