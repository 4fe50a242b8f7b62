"""`/api/tokens…` and `/api/audit`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from leasehold.access.tokens import AuditEntry, TokenRecord
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import ById, Cursor, Limit, Page, cursor_at, place_of
from leasehold.gateway.http.problems import UNKNOWN_TOKEN, WRONG_STATE
from leasehold.gateway.routing.routes import Call, NoParameters, Routes

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


class TokenBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token to be made."""

    name: TokenName
    scopes: Annotated[list[ScopeName], Meta(min_length=1, max_length=4, description="What it may do.")]
    expires_in: Annotated[float, Meta(ge=1, le=315_360_000, description="Seconds until it ends by itself.")] | None = (
        None
    )


class NewTokenBody(msgspec.Struct, frozen=True, kw_only=True):
    """A new token. `secret` is the token itself; it is shown only here."""

    token_id: int
    name: str
    secret: str


class RevokedBody(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the token was not revoked before; one that has expired is revoked, too."""

    changed: bool


class AuditParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries: of one actor; whose action begins so; from a time on."""

    actor: Annotated[str, Meta(max_length=200, pattern="^[^\\x00]*$")] | None = None
    action: Annotated[str, Meta(max_length=200, pattern="^[^\\x00]*$")] | None = None
    since: Annotated[datetime, Meta(tz=True)] | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


routes = Routes("access")


@routes("GET", "/api/tokens", "List the tokens", scope=Scope.ADMIN)
async def list_tokens(call: Call[TokensParameters, None]) -> Page[TokenRecord]:
    """The tokens, the newest first, without their secrets."""
    wanted = call.parameters
    return Page(await call.services.client.tokens.list(wanted.name, everything=wanted.everything))


@routes("POST", "/api/tokens", "Make a token", status=201, errors=(WRONG_STATE,), scope=Scope.ADMIN)
async def create_token(call: Call[NoParameters, TokenBody]) -> NewTokenBody:
    """Makes a token and shows it this one time; the database stores a hash. Two tokens of a name may be active, so that a
    new one can replace the old one."""
    body = call.body
    made = await call.services.client.tokens.create(
        body.name,
        body.scopes,
        expires_in=None if body.expires_in is None else timedelta(seconds=body.expires_in),
        created_by=call.identity.name,
    )
    return NewTokenBody(token_id=made.token_id, name=made.name, secret=made.secret)


@routes("DELETE", "/api/tokens/{id}", "Revoke a token", errors=(UNKNOWN_TOKEN,), scope=Scope.ADMIN)
async def revoke_token(call: Call[ById, None]) -> RevokedBody:
    """Revokes a token. Gateways refuse it within a second. Requests in flight are still answered."""
    changed = await call.services.client.tokens.revoke(call.parameters.id, revoked_by=call.identity.name)
    return RevokedBody(changed=changed)


@routes("GET", "/api/audit", "List what was done by whom", scope=Scope.ADMIN)
async def list_audit(call: Call[AuditParameters, None]) -> Page[AuditEntry]:
    """What was done with the scopes operate and admin, and with tokens, the newest first. A row without a status is in
    progress, or the gateway died during it."""
    wanted = call.parameters
    entries = await call.services.client.tokens.audit_log(
        actor=wanted.actor,
        action=wanted.action,
        since=wanted.since,
        before_id=place_of(wanted.cursor),
        page_size=wanted.limit,
    )
    return Page(entries, cursor_at(entries[-1].id) if len(entries) == wanted.limit else None)
