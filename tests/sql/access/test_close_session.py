from __future__ import annotations

from leasehold.database import Database

HASH = b"s" * 32


async def test_a_session_that_was_closed_is_not_found(database: Database) -> None:
    await database.call("create_session", HASH)
    assert await database.call_value("close_session", HASH) is True
    assert await database.call("find_token", HASH) == []
    assert await database.call_value("close_session", HASH) is False
