from __future__ import annotations

import pytest

from leasehold.access.tokens import hash_token, make_token
from leasehold.database import Database
from leasehold.errors import BadInput, QueryRefused, WrongState
from tests.support.sql_tokens import create, create_with_hash
from tests.support.sql_waits import freeze


async def test_what_is_kept_is_the_hash_and_what_people_need(database: Database) -> None:
    token_id, digest = await create_with_hash(
        database, "shop", ("read", "enqueue", "read"), expires_in=60.0, created_by="ada"
    )
    [row] = await database.fetch("select * from leasehold.api_tokens")
    assert (row["id"], row["name"], row["hash"], row["prefix"]) == (token_id, "shop", digest, "lh_abc123")
    assert row["scopes"] == ["enqueue", "read"]
    assert (row["created_by"], (row["expires_at"] - row["created_at"]).total_seconds()) == ("ada", 60)


async def test_who_made_it_is_the_database_user_where_nobody_says(database: Database) -> None:
    await create(database)
    [row] = await database.fetch("select created_by = session_user as is_mine from leasehold.api_tokens")
    assert row["is_mine"]


async def test_making_one_stands_in_the_audit_log(database: Database) -> None:
    token_id = await create(database, "shop", created_by="ada")
    [row] = await database.fetch("select actor, action, detail ->> 'id' as id from leasehold.audit_log")
    assert (row["actor"], row["action"], row["id"]) == ("ada", "create_token", str(token_id))


async def test_two_of_a_name_may_be_active_so_that_one_can_take_over(database: Database) -> None:
    first = await create(database)
    await create(database)
    with pytest.raises(WrongState, match="two tokens named ci are active"):
        await create(database)
    await create(database, "another")
    await database.call("revoke_token", first)
    await create(database)


async def test_one_that_has_expired_does_not_count(database: Database) -> None:
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        await create(transaction, expires_in=10.0)
        await create(transaction)
        await freeze(transaction, "2026-01-01 00:00:11+00")
        await create(transaction)


REFUSED: list[tuple[str, tuple[str, ...], dict[str, object], str]] = [
    ("", ("read",), {}, "a name has"),
    ("-x", ("read",), {}, "a name has"),
    ("a b", ("read",), {}, "a name has"),
    ("a\nb", ("read",), {}, "a name has"),
    ("x" * 64, ("read",), {}, "a name has"),
    ("ci", (), {}, "at least one scope"),
    ("ci", ("read", "root"), {}, "'root' is no scope"),
    ("ci", ("read",), {"expires_in": 0.0}, "expires_in"),
    ("ci", ("read",), {"expires_in": float("nan")}, "expires_in"),
]


async def test_a_value_out_of_range_is_refused(database: Database) -> None:
    for name, scopes, fields, complaint in REFUSED:
        with pytest.raises(BadInput, match=complaint):
            await create(database, name, scopes, **fields)


async def test_what_is_no_hash_is_refused(database: Database, subtests: pytest.Subtests) -> None:
    for digest in [b"", b"short", b"x" * 33]:
        with subtests.test(digest=digest), pytest.raises(BadInput, match="32 bytes"):
            await database.call("create_token", "ci", digest, "lh_", ["read"])


async def test_the_same_token_is_not_let_in_twice(database: Database) -> None:
    digest = hash_token(make_token())
    await database.call("create_token", "ci", digest, "lh_", ["read"])
    with pytest.raises(QueryRefused):
        await database.call("create_token", "other", digest, "lh_", ["read"])
