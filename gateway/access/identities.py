"""Who calls, as far as the gateway knows."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

import msgspec


class Scope(Enum):
    """What a route lets its caller do."""

    ENQUEUE = "enqueue"
    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"


IMPLIED = {
    Scope.ENQUEUE: frozenset({Scope.ENQUEUE}),
    Scope.READ: frozenset({Scope.READ}),
    Scope.OPERATE: frozenset({Scope.OPERATE, Scope.READ}),
    Scope.ADMIN: frozenset(Scope),
}
"""What a token with this scope may do. Who enqueues need not see what others enqueued, so that implies nothing."""

EVERYTHING = frozenset(Scope)


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A caller: its name for the audit log, and what it may do.

    Attributes:
        token_id: of a token in the database; None for the token of the settings and for callers without a token.
    """

    name: str
    scopes: frozenset[Scope] = EVERYTHING
    token_id: int | None = None


ANONYMOUS = Identity(name="anonymous")
"""Whoever reaches a gateway on loopback that has no tokens at all."""
BOOTSTRAP = Identity(name="gateway_token")
"""Whoever has the token of the settings."""


def scopes_of(names: Iterable[str]) -> frozenset[Scope]:
    """All that these scopes allow together."""
    return frozenset[Scope]().union(*(IMPLIED[Scope(name)] for name in names))
