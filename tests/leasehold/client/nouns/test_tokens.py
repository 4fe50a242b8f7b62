from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.access.tokens import hash_token, is_token
from leasehold.client import Client
from leasehold.database import Database
from leasehold.errors import BadInput, NotFound, WrongState


async def test_a_token_is_made_and_the_database_never_sees_it(database: Database) -> None:
    client = Client(database)
    made = await client.tokens.create("shop", ["enqueue"], expires_in=timedelta(days=1), created_by="ada")
    assert is_token(made.secret)
    assert made.secret not in repr(made)
    [row] = await database.fetch("select row_to_json(t)::text as all, hash from leasehold.api_tokens t")
    assert row["hash"] == hash_token(made.secret)
    assert made.secret not in row["all"]


async def test_tokens_are_listed_and_revoked(database: Database) -> None:
    client = Client(database)
    made = await client.tokens.create("shop", ["read", "enqueue"])
    [shown] = await client.tokens.list("shop")
    assert (shown.token_id, shown.name, shown.scopes, shown.state) == (
        made.token_id,
        "shop",
        ["enqueue", "read"],
        "active",
    )
    assert made.secret.startswith(shown.prefix)
    assert await client.tokens.revoke(made.token_id, revoked_by="bob")
    assert await client.tokens.list("shop") == []
    [gone] = await client.tokens.list("shop", everything=True)
    assert (gone.state, gone.revoked_by) == ("revoked", "bob")


async def test_the_audit_log_tells_of_both(database: Database) -> None:
    client = Client(database)
    made = await client.tokens.create("shop", ["read"], created_by="ada")
    await client.tokens.revoke(made.token_id, revoked_by="bob")
    entries = await client.tokens.audit_log()
    assert [(each.actor, each.action, each.detail["name"]) for each in entries] == [
        ("bob", "revoke_token", "shop"),
        ("ada", "create_token", "shop"),
    ]
    assert await client.tokens.audit_log(actor="ada", action="create", before_id=entries[0].id) == entries[1:]


async def test_what_cannot_be_is_refused(database: Database) -> None:
    client = Client(database)
    with pytest.raises(BadInput):
        await client.tokens.create("shop", ["everything"])
    with pytest.raises(NotFound):
        await client.tokens.revoke(99)
    for _ in range(2):
        await client.tokens.create("shop", ["read"])
    with pytest.raises(WrongState):
        await client.tokens.create("shop", ["read"])
