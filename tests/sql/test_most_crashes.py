from __future__ import annotations

from leasehold.database import Database


async def test_three_processes_may_die_under_a_job(database: Database) -> None:
    assert await database.call_value("most_crashes") == 3
