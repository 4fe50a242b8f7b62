"""Request and response bodies of `/api/tokens…` and `/api/audit`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import LARGEST_BIGINT
from leasehold.gateway.http.pages import Cursor, Limit

ScopeName = Literal["enqueue", "read", "operate", "admin"]
TokenName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._@:/-]{0,62}$",
        description="Who uses the token; its name in the audit log.",
        examples=["shop"],
    ),
]


class TokensParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which tokens: of one name; those that are revoked or have expired, too."""

    name: TokenName | None = None
    everything: bool = False


class TokenParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which token."""

    id: Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]


class TokenBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token to be made."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            {"properties": {"burst": {"type": "null"}}},
            {"required": ["rate"], "properties": {"rate": {"type": "number"}}},
        ]
    }

    name: TokenName
    scopes: Annotated[list[ScopeName], Meta(min_length=1, max_length=4, description="What it may do.")]
    expires_in: Annotated[float, Meta(ge=1, le=315_360_000, description="Seconds until it ends by itself.")] | None = (
        None
    )
    rate: Annotated[float, Meta(ge=0.001, le=1e6, description="Requests a second, in each gateway process.")] | None = (
        None
    )
    burst: Annotated[int, Meta(ge=1, le=1_000_000, description="Requests at once; else those of a second.")] | None = (
        None
    )


class NewTokenBody(msgspec.Struct, frozen=True, kw_only=True):
    """A new token. `secret` is the token itself; it is shown only here."""

    token_id: int
    name: str
    secret: str


class RevokedBody(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the token was active until now."""

    changed: bool


class AuditParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries: of one actor; whose action begins so; from a time on."""

    actor: Annotated[str, Meta(max_length=200, pattern="^[^\\x00]*$")] | None = None
    action: Annotated[str, Meta(max_length=200, pattern="^[^\\x00]*$")] | None = None
    since: Annotated[datetime, Meta(tz=True)] | None = None
    cursor: Cursor | None = None
    limit: Limit = 50
