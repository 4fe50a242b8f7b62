"""Request and response bodies of `/api/egress…`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from leasehold.egress.locales import USER_AGENT
from leasehold.gateway.resources.jobs.bodies import Reason

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
Secret = Annotated[str, Meta(min_length=1, max_length=300, pattern="^[^\\x00]*$")]


class IdentitiesParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which identities: those that are retired, too."""

    everything: bool = False


class IdentityParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which identity, and why."""

    name: IdentityName
    reason: Reason | None = None


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
