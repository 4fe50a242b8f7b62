from __future__ import annotations

from leasehold.database import Database


async def test_three(database: Database) -> None:
    assert await database.call_value("most_crashes") == 3
