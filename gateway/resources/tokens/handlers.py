"""The handlers of `/api/tokens…` and `/api/audit`."""

from __future__ import annotations

from datetime import timedelta

from leasehold.access.records import AuditEntry, TokenRecord
from leasehold.gateway.http.pages import Page, cursor_at, place_of
from leasehold.gateway.resources.tokens.bodies import (
    AuditParameters,
    NewTokenBody,
    RevokedBody,
    TokenBody,
    TokenParameters,
    TokensParameters,
)
from leasehold.gateway.routing.routes import Call, NoParameters


async def list_tokens(call: Call[TokensParameters, None]) -> Page[TokenRecord]:
    """The tokens, the newest first, without their secrets."""
    wanted = call.parameters
    return Page(await call.services.client.tokens.list(wanted.name, everything=wanted.everything))


async def create_token(call: Call[NoParameters, TokenBody]) -> NewTokenBody:
    """Makes a token and shows it this one time; the database stores a hash. Two tokens of a name may be active, so that a
    new one can replace the old one."""
    body = call.body
    made = await call.services.client.tokens.create(
        body.name,
        body.scopes,
        expires_in=None if body.expires_in is None else timedelta(seconds=body.expires_in),
        rate=body.rate,
        burst=body.burst,
        created_by=call.identity.name,
    )
    return NewTokenBody(token_id=made.token_id, name=made.name, secret=made.secret)


async def revoke_token(call: Call[TokenParameters, None]) -> RevokedBody:
    """Revokes a token. Gateways refuse it within a second. Requests in flight are still answered."""
    changed = await call.services.client.tokens.revoke(call.parameters.id, revoked_by=call.identity.name)
    return RevokedBody(changed=changed)


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
