from __future__ import annotations

from leasehold.database import Database


async def test_without_roles_nobody_is_a_stranger(database: Database) -> None:
    for login in ("postgres", "somebody else"):
        assert await database.call_value("is_stranger", login) is False
