"""The handlers of `/api/egress…`."""

from __future__ import annotations

from leasehold.gateway.http.pages import Page
from leasehold.gateway.resources.egress.bodies import (
    AddedIdentityBody,
    IdentitiesParameters,
    IdentityBody,
    IdentityParameters,
    RetiredIdentityBody,
)
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.identities import IdentityRecord


async def list_identities(call: Call[IdentitiesParameters, None]) -> Page[IdentityRecord]:
    """The identities by name, without the passwords of their proxies."""
    return Page(await call.services.client.egress.list(everything=call.parameters.everything))


async def add_identity(call: Call[NoParameters, IdentityBody]) -> AddedIdentityBody:
    """Adds an identity, or changes the one of this name; a retired one comes back. The password of the proxy is never shown
    again, nor written to the audit log."""
    body = call.body
    added = await call.services.client.egress.add(
        body.name,
        locale=body.locale,
        time_zone=body.time_zone,
        user_agent=body.user_agent,
        proxy=body.proxy,
        proxy_user=body.proxy_user,
        proxy_password=body.proxy_password,
        retire_after=body.retire_after,
        cool_seconds=body.cool_seconds,
        added_by=call.identity.name,
    )
    return AddedIdentityBody(identity_id=added, name=body.name)


async def retire_identity(call: Call[IdentityParameters, None]) -> RetiredIdentityBody:
    """Gives the identity to nobody any more. The job that has it may finish."""
    wanted = call.parameters
    changed = await call.services.client.egress.retire(wanted.name, wanted.reason, retired_by=call.identity.name)
    return RetiredIdentityBody(changed=changed)
