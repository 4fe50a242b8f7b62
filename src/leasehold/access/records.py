"""What the functions about tokens and the audit log answer with."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

TokenState = Literal["active", "expired", "revoked"]


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token just made. `secret` is the token itself, and this is the only place that has it."""

    token_id: int
    name: str
    secret: str

    def __repr__(self) -> str:
        return f"NewToken(token_id={self.token_id}, name={self.name!r}, secret='***')"


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A token as others may see it.

    Attributes:
        prefix: how it begins.
        rate: requests a second on the long run, in each gateway process, None for any number; `burst` at once.
        last_used_at: written at most once a minute.
    """

    token_id: int
    name: str
    prefix: str
    scopes: list[str]
    state: TokenState
    rate: float | None
    burst: int | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done.

    Attributes:
        actor: the name of the token, or of the database user where no gateway was between.
        action: METHOD /path as the route table has it, or the name of a function.
        status: the HTTP status of the answer; None where there was none, or not yet.
    """

    id: int
    at: datetime
    actor: str
    token_id: int | None
    action: str
    detail: Any
    address: str | None
    request_id: str | None
    status: int | None
