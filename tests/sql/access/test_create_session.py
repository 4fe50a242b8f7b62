from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, NotFound
from tests.support.sql_tokens import create, create_with_hash
from tests.support.sql_waits import freeze

HASH = b"s" * 32


async def test_a_session_is_found_as_its_token_is(database: Database) -> None:
    token_id, digest = await create_with_hash(database, "shop", ("read", "operate"))
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        assert await transaction.call_value("create_session", HASH, token_id, 60.0) == 60.0
        [by_session] = await transaction.call("find_token", HASH)
        [by_token] = await transaction.call("find_token", digest)
    assert {**by_token, "expires_in": 60.0} == dict(by_session)


async def test_it_ends_by_itself_and_is_removed_by_the_next_one(database: Database) -> None:
    token_id = await create(database)
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        await transaction.call("create_session", HASH, token_id, 60.0)
        await freeze(transaction, "2026-01-01 00:01:00+00")
        assert await transaction.call("find_token", HASH) == []
        await transaction.call("create_session", b"t" * 32, token_id, 60.0)
        rows = await transaction.fetch("select hash from leasehold.api_sessions")
    assert [row["hash"] for row in rows] == [b"t" * 32]


async def test_it_does_not_outlive_its_token(database: Database) -> None:
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        token_id = await create(transaction, expires_in=10.0)
        assert await transaction.call_value("create_session", HASH, token_id, 60.0) == 10.0
        await transaction.call("revoke_token", token_id)
        assert await transaction.call("find_token", HASH) == []


async def test_one_of_the_token_in_the_settings_may_do_everything(database: Database) -> None:
    await database.call("create_session", HASH)
    [row] = await database.call("find_token", HASH)
    assert (row["token_id"], row["name"], row["scopes"]) == (None, "gateway_token", ["admin"])


async def test_who_signed_in_is_written_down(database: Database) -> None:
    token_id = await create(database, "ada")
    await database.call("create_session", HASH, token_id)
    [entry, *_] = await database.call("list_audit")
    assert (entry["actor"], entry["action"]) == ("ada", "create_session")


async def test_what_makes_no_sense_is_refused(database: Database) -> None:
    for arguments in [(b"short",), (None,), (HASH, None, 0.0), (HASH, None, 2592001.0), (HASH, None, None)]:
        with pytest.raises(BadInput):
            await database.call("create_session", *arguments)
    revoked = await create(database)
    await database.call("revoke_token", revoked)
    for token_id in (revoked, 12345):
        with pytest.raises(NotFound, match=f"no token {token_id} is active"):
            await database.call("create_session", HASH, token_id)
