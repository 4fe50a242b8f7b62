from __future__ import annotations

from datetime import timedelta

from leasehold.database import Database


async def test_the_content_of_a_payload_may_take_a_day(database: Database) -> None:
    assert await database.call_value("payload_patience") == timedelta(days=1)
