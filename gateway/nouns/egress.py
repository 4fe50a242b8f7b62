"""`/api/egress…`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from leasehold.egress.identity import USER_AGENT
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Page, Reason
from leasehold.gateway.http.problems import ADDRESS_INSIDE, EGRESS_MISSING, UNKNOWN_IDENTITY, WRONG_STATE
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.records.workers import IdentityRecord, TestedIdentity

IdentityName = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,62}$", description="The name of the identity.", examples=["berlin-1"]),
]
ProxyUrl = Annotated[
    str,
    Meta(
        pattern=r"^(https?|socks5)://[A-Za-z0-9._-]+(:[0-9]{1,5})?$",
        max_length=300,
        description="Where the proxy listens, without user and password.",
        examples=["http://proxy.example:3128"],
    ),
]
PORT = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
Secret = Annotated[str, Meta(min_length=1, max_length=300, pattern="^[^\\x00]*$")]


class IdentitiesParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which identities: those that are retired, too."""

    everything: bool = False


class IdentityParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which identity, and why."""

    name: IdentityName
    reason: Reason | None = None


class NamedParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which identity."""

    name: IdentityName


class TestBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the identity is tried at."""

    url: Annotated[
        str,
        Meta(
            pattern=rf"^https?://[A-Za-z0-9]([A-Za-z0-9._-]{{0,250}}[A-Za-z0-9])?(:({PORT}))?([/?][!-~]*)?$",
            max_length=2000,
            description="A page of a server of others, without user and password.",
            examples=["https://shop.example/"],
        ),
    ]


class IdentityBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An identity to be added, or changed."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "dependentRequired": {"proxy_password": ["proxy_user"], "proxy_user": ["proxy"]},
    }

    name: IdentityName
    locale: Annotated[
        str, Meta(pattern="^[a-z]{2,3}-[A-Z]{2}$", description="Language and country.", examples=["de-DE"])
    ] = "en-US"
    time_zone: (
        Annotated[str, Meta(max_length=100, description="A zone of that country; else its first one.")] | None
    ) = None
    user_agent: Annotated[str, Meta(pattern="^[ -~]+$", max_length=500)] = USER_AGENT
    proxy: ProxyUrl | None = None
    proxy_user: Secret | None = None
    proxy_password: Annotated[Secret, Meta(description="Never shown again.")] | None = None
    retire_after: Annotated[int, Meta(ge=1, le=1000, description="Refusals in a row after which it retires.")] = 5
    cool_seconds: Annotated[float, Meta(ge=0.001, le=86_400, description="Its rest after the first refusal.")] = 60.0


class AddedIdentityBody(msgspec.Struct, frozen=True, kw_only=True):
    """The identity that was added or changed."""

    identity_id: int
    name: str


class RetiredIdentityBody(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the identity was in use until now."""

    changed: bool


routes = Routes("egress")


@routes("GET", "/api/egress", "List the egress identities", scope=Scope.READ)
async def list_identities(call: Call[IdentitiesParameters, None]) -> Page[IdentityRecord]:
    """The identities by name, without the passwords of their proxies."""
    return Page(await call.services.client.egress.list(everything=call.parameters.everything))


@routes(
    "POST",
    "/api/egress",
    "Add an egress identity",
    scope=Scope.ADMIN,
    example={"name": "berlin-1", "locale": "de-DE", "proxy": "http://proxy.example:3128"},
)
async def add_identity(call: Call[NoParameters, IdentityBody]) -> AddedIdentityBody:
    """Adds an identity, or changes the one of this name; a retired one comes back. The password of the proxy is never shown
    again, nor written to the audit log."""
    fields = msgspec.structs.asdict(call.body)
    added = await call.services.client.egress.add(**fields, added_by=call.identity.name)
    return AddedIdentityBody(identity_id=added, name=call.body.name)


@routes(
    "POST", "/api/egress/{name}/retire", "Retire an egress identity", errors=(UNKNOWN_IDENTITY,), scope=Scope.OPERATE
)
async def retire_identity(call: Call[IdentityParameters, None]) -> RetiredIdentityBody:
    """Gives the identity to nobody any more. The job that has it may finish."""
    wanted = call.parameters
    changed = await call.services.client.egress.retire(wanted.name, wanted.reason, retired_by=call.identity.name)
    return RetiredIdentityBody(changed=changed)


@routes(
    "POST",
    "/api/egress/{name}/test",
    "Test an egress identity",
    errors=(ADDRESS_INSIDE, WRONG_STATE, EGRESS_MISSING),
    scope=Scope.ADMIN,
    example={"url": "https://shop.example/"},
)
async def test_identity(call: Call[NamedParameters, TestBody]) -> TestedIdentity:
    """Sends one GET under the identity, from the gateway, and tells the status of the first answer, after 20 s at the most. The
    identity is leased meanwhile, and the answer counts as one that a job got: after a 403 it cools.

    Without a proxy only public addresses are asked, so that nobody reaches through the gateway what lies behind it;
    `leasehold egress test` asks from where you are. Through a proxy, the proxy decides.
    """
    return await call.services.client.egress.test(call.parameters.name, call.body.url, only_public=True)
