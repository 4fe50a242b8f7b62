from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_tokens import create_with_hash
from tests.support.sql_waits import freeze
from tests.support.waiting import PATIENCE


async def test_a_token_is_found_by_its_hash_with_what_it_may_do(database: Database) -> None:
    token_id, digest = await create_with_hash(database, "shop", ("enqueue", "read"))
    [row] = await database.call("find_token", digest)
    assert dict(row) == {
        "token_id": token_id,
        "name": "shop",
        "scopes": ["enqueue", "read"],
        "expires_in": None,
    }
    assert await database.call("find_token", b"x" * 32) == []
    assert await database.call("find_token", None) == []


async def test_one_that_expires_says_when_and_is_gone_then(database: Database) -> None:
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        _, digest = await create_with_hash(transaction, expires_in=10.0)
        await freeze(transaction, "2026-01-01 00:00:04+00")
        [row] = await transaction.call("find_token", digest)
        assert row["expires_in"] == 6.0
        await freeze(transaction, "2026-01-01 00:00:10+00")
        assert await transaction.call("find_token", digest) == []


async def test_that_it_was_used_is_written_at_most_once_a_minute(database: Database) -> None:
    async with database.transaction() as transaction:
        _, digest = await create_with_hash(transaction)

        async def used_at(now: str) -> str:
            await freeze(transaction, now)
            await transaction.call("find_token", digest)
            [row] = await transaction.fetch(
                "select to_char(last_used_at at time zone 'UTC', 'MI:SS') as at from leasehold.api_tokens"
            )
            return row["at"]

        assert await used_at("2026-01-01 00:00:00+00") == "00:00"
        assert await used_at("2026-01-01 00:01:00+00") == "00:00"
        assert await used_at("2026-01-01 00:01:01+00") == "01:01"


async def test_nobody_waits_for_whoever_has_the_row_locked(database: Database) -> None:
    token_id, digest = await create_with_hash(database)
    async with database.transaction() as transaction:
        await transaction.fetch("select from leasehold.api_tokens where id = $1 for update", token_id)
        assert len(await database.call("find_token", digest, timeout=PATIENCE)) == 1
    [row] = await database.fetch("select last_used_at from leasehold.api_tokens")
    assert row["last_used_at"] is None
