"""`/api/session`: who signs in with a token and gets a cookie."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from leasehold.gateway.access.guard import session_of
from leasehold.gateway.access.identities import ANONYMOUS, Identity
from leasehold.gateway.http.problems import (
    DATABASE_ERRORS,
    FOREIGN_ORIGIN,
    TOO_MANY_FAILURES,
    UNAUTHORIZED,
    UNKNOWN_HOST,
)
from leasehold.gateway.http.replies import PLAIN, response_of
from leasehold.gateway.nouns.tokens import ScopeName
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.gateway.routing.services import GatewayServices


class SignInBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """With which token."""

    token: Annotated[str, Meta(min_length=1, max_length=500, description="An access token.")]


class SessionBody(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls. `name` is null where a token is needed and none was shown; `is_session`: the caller signed in and can sign
    out; `version` is that of the gateway; `can_scale`: it sets how many pods of workers Kubernetes has."""

    name: str | None
    scopes: list[ScopeName]
    is_session: bool
    version: str
    can_scale: bool = False


ERRORS = (TOO_MANY_FAILURES, UNKNOWN_HOST, FOREIGN_ORIGIN, *DATABASE_ERRORS)
VERSION = version("leasehold")
routes = Routes("session")


@routes("GET", "/api/session", "Show who calls", response=SessionBody, errors=ERRORS, is_raw=True)
async def show_session(call: Call[NoParameters, None], request: web.Request) -> web.Response:
    """Who calls, and what they may do. It needs no token: without one where one is needed, `name` is null."""
    identity = await call.services.sessions.guard.find_caller(request)
    is_session = (
        identity not in (None, ANONYMOUS) and "Authorization" not in request.headers and session_of(request) is not None
    )
    return response_of(_body_of(call.services, identity, is_session=is_session), 200, PLAIN)


@routes(
    "POST",
    "/api/session",
    "Sign a browser in with a token",
    response=SessionBody,
    status=201,
    errors=(UNAUTHORIZED, *ERRORS),
    is_raw=True,
    example={"token": "lh_…"},
)
async def open_session(call: Call[NoParameters, SignInBody], request: web.Request) -> web.Response:
    """Exchanges an access token for a session, which the answer puts into a cookie that scripts cannot read. Requests that come
    with the cookie are admitted as those with the token; changes need the header `X-Leasehold-CSRF` besides."""
    identity, cookie = await call.services.sessions.open(request, call.body.token)
    return response_of(_body_of(call.services, identity, is_session=True), 201, {**PLAIN, "Set-Cookie": cookie})


@routes("DELETE", "/api/session", "Sign a browser out", response=None, status=204, errors=ERRORS, is_raw=True)
async def close_session(call: Call[NoParameters, None], request: web.Request) -> web.Response:
    """Ends the session and takes the cookie away."""
    cookie = await call.services.sessions.close(request)
    return response_of(None, 204, {**PLAIN, "Set-Cookie": cookie})


def _body_of(services: GatewayServices, identity: Identity | None, *, is_session: bool) -> SessionBody:
    scopes = () if identity is None else identity.scopes
    return SessionBody(
        name=None if identity is None else identity.name,
        scopes=sorted(each.value for each in scopes),
        is_session=is_session,
        version=VERSION,
        can_scale=services.worker_set.can_scale,
    )
