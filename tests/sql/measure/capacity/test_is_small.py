from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_books import finish
from tests.support.sql_jobs import pile_up


async def test_tables_are_small_up_to_so_many_bytes_all_partitions_counted(fresh_database: Database) -> None:
    await pile_up(fresh_database, 100)
    await finish(fresh_database, "2026-03-01 12:00Z", 100)
    async with fresh_database.reserve("measuring") as connection:
        for name in ("jobs", "finished_jobs"):
            assert await connection.call_value("is_small", name) is True
            await connection.execute("set leasehold.small_table = '8192'")
            assert await connection.call_value("is_small", name) is False
            await connection.execute("set leasehold.small_table = ''")
