from __future__ import annotations

from leasehold.database import Database


async def test_the_system_identifier_is_that_of_the_control_file(database: Database) -> None:
    [row] = await database.fetch("select system_identifier from pg_control_system()")
    assert await database.call_value("read_system") == row["system_identifier"]
