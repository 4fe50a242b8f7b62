from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_waits import freeze


async def test_each_call_gives_a_number_of_its_own_and_the_time(database: Database) -> None:
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-03-01 10:00:00+00")
        [first] = await transaction.call("name_payload")
        [second] = await transaction.call("name_payload")
    assert second["payload_id"] > first["payload_id"]
    assert first["created_at"].isoformat() == "2026-03-01T10:00:00+00:00"
