from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_tokens import create
from tests.support.sql_waits import freeze


async def test_active_ones_are_listed_the_newest_first_without_their_hash(database: Database) -> None:
    first, second = await create(database, "a"), await create(database, "b")
    rows = await database.call("list_tokens")
    assert [(row["token_id"], row["name"], row["state"]) for row in rows] == [
        (second, "b", "active"),
        (first, "a", "active"),
    ]
    assert "hash" not in rows[0]
    assert [row["token_id"] for row in await database.call("list_tokens", "a")] == [first]


async def test_the_others_only_when_asked_for(database: Database) -> None:
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        await create(transaction, "short", expires_in=10.0)
        revoked = await create(transaction, "gone")
        await transaction.call("revoke_token", revoked)
        await create(transaction, "here")
        await freeze(transaction, "2026-01-01 00:00:10+00")
        assert [row["name"] for row in await transaction.call("list_tokens")] == ["here"]
        rows = await transaction.call("list_tokens", None, True)
    assert {row["name"]: row["state"] for row in rows} == {"short": "expired", "gone": "revoked", "here": "active"}
