"""Short ways to put tokens into a database."""

from __future__ import annotations

from leasehold.access.tokens import hash_token, make_token
from leasehold.database import Caller


async def create(caller: Caller, name: str = "ci", scopes: tuple[str, ...] = ("read",), **fields: object) -> int:
    """Make a token that nobody has; `fields` as in create_token."""
    return (await create_with_hash(caller, name, scopes, **fields))[0]


async def create_with_hash(
    caller: Caller, name: str = "ci", scopes: tuple[str, ...] = ("read",), **fields: object
) -> tuple[int, bytes]:
    """Make a token; returns its id and its hash."""
    digest = hash_token(make_token())
    token_id = await caller.call_value("create_token", name, digest, "lh_abc123", list(scopes), timeout=None, **fields)
    assert isinstance(token_id, int)
    return token_id, digest
