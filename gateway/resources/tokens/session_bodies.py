"""Request and response bodies of `/api/session`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.resources.tokens.bodies import ScopeName


class SignInBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """With which token."""

    token: Annotated[str, Meta(min_length=1, max_length=500, description="A bearer token.")]


class SessionBody(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls. `name` is null where a token is needed and none was shown; `is_session`: the caller signed in and can sign
    out; `version` is that of the gateway; `can_scale`: it sets how many pods of workers Kubernetes has."""

    name: str | None
    scopes: list[ScopeName]
    is_session: bool
    version: str
    can_scale: bool = False
