"""What a route is, and how it becomes an aiohttp handler.

A route is data: aiohttp's table, decoding, access and (from the same fields) the OpenAPI document all come from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Generic, Literal, TypeVar

import msgspec
from aiohttp import web

from leasehold.gateway.access.audit_log import Act, audited, describe, is_audited
from leasehold.gateway.access.guard import Guard, Scope, lacks_scope
from leasehold.gateway.access.identities import ANONYMOUS, Identity
from leasehold.gateway.http.problems import (
    ADDRESS_TOO_LONG,
    BODY_TOO_LARGE,
    DATABASE_UNAVAILABLE,
    FOREIGN_ORIGIN,
    HEADER_TOO_LONG,
    INSUFFICIENT_SCOPE,
    INTERNAL,
    INVALID_INPUT,
    MALFORMED_JSON,
    MALFORMED_REQUEST,
    NOT_ACCEPTABLE,
    NOT_FOUND,
    RATE_LIMITED,
    SCHEMA_MISMATCH,
    SLOW_BODY,
    TOO_DEEP,
    TOO_MANY_FAILURES,
    UNAUTHORIZED,
    UNKNOWN_HOST,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemType,
    Refusal,
    refuse_field,
)
from leasehold.gateway.http.reading import RequestLimits, decode_body, read_body
from leasehold.gateway.http.replies import JSON, PLAIN, Reply, etag_of, is_known, response_of
from leasehold.gateway.http.request_ids import request_id_of
from leasehold.gateway.http.targets import NoParameters, check_accept, read_parameters
from leasehold.gateway.routing.services import GatewayServices

Parameters = TypeVar("Parameters")
Body = TypeVar("Body")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

__all__ = ["Call", "Handler", "NoParameters", "Reply", "Route", "Success", "make_handler"]

ALWAYS_POSSIBLE = (
    MALFORMED_REQUEST, ADDRESS_TOO_LONG, HEADER_TOO_LONG, NOT_ACCEPTABLE, INVALID_INPUT, INTERNAL,
)  # fmt: skip
"""Any request may be no HTTP, be too long, ask for another media type or have a query parameter that the route does not know."""
ACCESS_ERRORS = (
    UNAUTHORIZED,
    INSUFFICIENT_SCOPE,
    FOREIGN_ORIGIN,
    UNKNOWN_HOST,
    RATE_LIMITED,
    TOO_MANY_FAILURES,
    DATABASE_UNAVAILABLE,
    SCHEMA_MISMATCH,
)
LISTS = frozenset({"If-Match", "If-None-Match", "Prefer"})
"""Request headers of which several are one list (RFC 9110 §5.3)."""
BODY_ERRORS = (MALFORMED_JSON, SLOW_BODY, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT, TOO_DEEP)


async def always() -> bool:
    """What is open to everybody stays so."""
    return True


class Call(msgspec.Struct, Generic[Parameters, Body], frozen=True, eq=False):
    """One request, decoded. `identity` is who sent it; `is_admitted` tells whether it would be admitted again, for answers
    that go on for long; `raw` is the body as it came."""

    services: GatewayServices
    parameters: Parameters
    body: Body
    headers: dict[str, str]
    identity: Identity = ANONYMOUS
    is_admitted: Callable[[], Awaitable[bool]] = always
    raw: bytes = b""


class Success(msgspec.Struct, frozen=True, eq=False):
    """A further way in which a route may succeed: when that is, and what it answers then (None: nothing)."""

    status: int
    when: str
    response: object | None = None


class Route(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One row of the route table.

    Attributes:
        handler: gets the decoded `Call` and returns what `response` says, or a `Reply` with another documented status or
            headers of its own. Its docstring is the description.
        response: the type of the answer; None where there is no body.
        request: the type of the body; None where none is read.
        parameters: a Struct: fields named in the path come from it, the others from the query.
        headers: the request headers that the handler reads, as in `documents.HEADERS`; `refused_headers`: those that would
            promise what it does not keep, and why.
        status: of the ordinary answer; `successes` are the others that are none the worse.
        errors: the problems of this handler's own; those of reading a body and of access follow from the other fields.
        scope: what the token must allow; None: open to everybody. `also`: what it must allow besides.
        has_etag: the answer has an ETag, and If-None-Match may spare it.
        media_type: of the answer. Where it is not JSON, the handler returns bytes.
        is_raw: the handler gets `(call, request)` and answers by itself, as streams do.
        alias_of: the path that this one stands for; kept for clients of other systems.
        example: a body, for the document.
        is_listed: it stands in the document.
        outlasts_database: it is served while the database is away, to tokens that were good some minutes ago, too.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Callable[..., Awaitable[object]]
    summary: str
    response: object | None
    request: object | None = None
    parameters: type[msgspec.Struct] = NoParameters
    headers: tuple[str, ...] = ()
    refused_headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    status: int = 200
    successes: tuple[Success, ...] = ()
    errors: tuple[ProblemType, ...] = ()
    scope: Scope | None = None
    also: Scope | None = None
    tags: tuple[str, ...] = ()
    has_etag: bool = False
    media_type: str = JSON
    is_raw: bool = False
    alias_of: str | None = None
    example: object | None = None
    is_listed: bool = True
    outlasts_database: bool = False

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """All that the token must allow."""
        return tuple(each for each in (self.scope, self.also) if each is not None)

    @property
    def all_errors(self) -> tuple[ProblemType, ...]:
        """Every problem that this route can answer."""
        access = ACCESS_ERRORS if self.scope else ()
        body = BODY_ERRORS if self.request is not None else ()
        # What a path cannot mean is not found.
        unknown = (NOT_FOUND,) if "{" in self.path and all(each.status != 404 for each in self.errors) else ()
        return tuple(dict.fromkeys((*access, *body, *self.errors, *unknown, *ALWAYS_POSSIBLE)))


def the_only(request: web.Request, name: str) -> str:
    """The value of a header that is there; of one that makes a list all of them. Refuses two where one counts."""
    values = request.headers.getall(name)
    if len(values) > 1 and name not in LISTS:
        raise Refusal(MALFORMED_REQUEST, f"There is more than one header {name}.")
    return ", ".join(values)


def make_handler(route: Route, services: GatewayServices, guard: Guard, limits: RequestLimits) -> Handler:
    """The aiohttp handler of a route: access, parameters, body, handler, answer, in this order."""
    decoder: msgspec.json.Decoder[Any] | None = (
        None if route.request is None else msgspec.json.Decoder(route.request)  # pyright: ignore[reportArgumentType]
    )
    plain = PLAIN if route.media_type == JSON else {**PLAIN, "Content-Type": route.media_type}

    action = f"{route.method} {route.alias_of or route.path}"

    async def call_of(request: web.Request) -> Call[Any, Any]:
        identity, is_admitted = ANONYMOUS, always
        if route.scope is not None:
            identity = await guard.admit(request, route.scope, outlasts_database=route.outlasts_database)
            if route.also is not None and route.also not in identity.scopes:
                raise lacks_scope(identity, route.also)
            is_admitted = partial(guard.still_admits, request, route.scope)
        check_accept(request, route.media_type)
        parameters = read_parameters(request, route.parameters, route.errors)
        raw = b"" if decoder is None else await read_body(request, limits)
        body = None if decoder is None else decode_body(decoder, raw, limits)
        for name, reason in route.refused_headers.items():
            if name in request.headers:
                raise refuse_field(f"header.{name}", reason)
        headers = {name: the_only(request, name) for name in route.headers if name in request.headers}
        return Call(services, parameters, body, headers, identity, is_admitted, raw)

    async def handle(request: web.Request) -> object:
        call = await call_of(request)
        log = services.audit_log
        if log is None or not is_audited(route.method, route.path, route.scope):
            return await route.handler(call)
        act = Act(
            identity=call.identity,
            action=action,
            detail=describe(call.parameters, call.body),
            address=request.remote,
            request_id=request_id_of(request),
        )
        return await audited(log, act, route.status, lambda: route.handler(call))

    async def answer(request: web.Request) -> web.StreamResponse:
        result = await handle(request)
        response = response_of(result, route.status, plain)
        if route.has_etag and response.status == route.status:
            tag = etag_of(response.body)
            if is_known(tag, request.headers.get("If-None-Match")):
                response = response_of(None, 304, plain)
            response.headers.update({"ETag": tag, "Cache-Control": "private, no-cache"})
        return response

    async def answer_raw(request: web.Request) -> web.StreamResponse:
        return await route.handler(await call_of(request), request)  # pyright: ignore[reportReturnType]

    return answer_raw if route.is_raw else answer
