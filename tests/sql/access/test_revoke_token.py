from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.database.border import listen
from leasehold.errors import NotFound
from tests.support.sql_tokens import create, create_with_hash
from tests.support.sql_waits import freeze


async def test_a_revoked_token_is_not_found_any_more(database: Database) -> None:
    token_id, digest = await create_with_hash(database)
    assert len(await database.call("find_token", digest)) == 1
    assert await database.call_value("revoke_token", token_id, "ada") is True
    assert await database.call("find_token", digest) == []
    [row] = await database.fetch("select revoked_by, revoked_at is not null as is_revoked from leasehold.api_tokens")
    assert (row["revoked_by"], row["is_revoked"]) == ("ada", True)


async def test_doing_it_again_changes_nothing(database: Database) -> None:
    token_id = await create(database)
    await database.call("revoke_token", token_id, "ada")
    assert await database.call_value("revoke_token", token_id, "bob") is False
    [row] = await database.fetch("select revoked_by from leasehold.api_tokens")
    assert row["revoked_by"] == "ada"
    [count] = await database.fetch("select count(*) as n from leasehold.audit_log where action = 'revoke_token'")
    assert count["n"] == 1


async def test_one_that_has_expired_is_revoked_too(database: Database) -> None:
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        token_id = await create(transaction, expires_in=10.0)
        await freeze(transaction, "2026-01-01 00:00:11+00")
        assert await transaction.call_value("revoke_token", token_id) is True
        assert await transaction.call_value("revoke_token", token_id) is False


async def test_gateways_are_told(database: Database) -> None:
    token_id = await create(database)
    async with listen(database, "leasehold_access") as listening:
        await database.call("revoke_token", token_id)
        assert await anext(listening.payloads) == "tokens"


async def test_an_unknown_one_is_an_error(database: Database, subtests: pytest.Subtests) -> None:
    for token_id in [0, 99, None]:
        with subtests.test(token_id=token_id), pytest.raises(NotFound, match="there is no token"):
            await database.call("revoke_token", token_id)
