"""What a route is, and how it becomes an aiohttp handler.

A route is data: aiohttp's table, decoding, access and (from the same fields) the OpenAPI document all come from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Literal, TypeVar

import msgspec
from aiohttp import web

from leasehold.gateway.access import Guard, Scope
from leasehold.gateway.problems import (
    BODY_TOO_LARGE,
    INTERNAL,
    INVALID_INPUT,
    MALFORMED_JSON,
    NOT_FOUND,
    SLOW_BODY,
    TOO_DEEP,
    UNAUTHORIZED,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemType,
    Refusal,
)
from leasehold.gateway.reading import Limits, decode_body, offence_of, read_body
from leasehold.gateway.services import Services

Parameters = TypeVar("Parameters")
Body = TypeVar("Body")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

BODY_ERRORS = (MALFORMED_JSON, SLOW_BODY, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT, TOO_DEEP)
ENCODER = msgspec.json.Encoder()
JSON_HEADERS = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Server": "leasehold",
}


class NoParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A route without parameters."""


class Call(msgspec.Struct, Generic[Parameters, Body], frozen=True, eq=False):
    """One request, decoded."""

    services: Services
    parameters: Parameters
    body: Body
    headers: dict[str, str]


class Route(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One row of the route table.

    `parameters` is a Struct: fields named in the path come from it, the others from the query. `headers` are the
    request headers that the handler reads. `errors` are the problems of this handler's own; those of reading a body
    and of access follow from the other fields (`all_errors`). No `scope` means open to everybody.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Callable[[Call[Any, Any]], Awaitable[object]]
    summary: str
    response: object
    request: object | None = None
    parameters: type[msgspec.Struct] = NoParameters
    headers: tuple[str, ...] = ()
    status: int = 200
    errors: tuple[ProblemType, ...] = ()
    scope: Scope | None = None
    tags: tuple[str, ...] = ()

    @property
    def all_errors(self) -> tuple[ProblemType, ...]:
        """Every problem that this route can answer."""
        access = (UNAUTHORIZED,) if self.scope else ()
        body = BODY_ERRORS if self.request is not None else ()
        return tuple(dict.fromkeys((*access, *body, *self.errors, INTERNAL)))


def make_handler(route: Route, services: Services, guard: Guard, limits: Limits) -> Handler:
    """The aiohttp handler of a route: access, parameters, body, handler, answer, in this order."""
    decoder: msgspec.json.Decoder[Any] | None = (
        None if route.request is None else msgspec.json.Decoder(route.request)  # pyright: ignore[reportArgumentType]
    )

    async def answer(request: web.Request) -> web.StreamResponse:
        if route.scope is not None:
            guard.check(request, route.scope)
        parameters = read_parameters(route, request)
        body = None if decoder is None else decode_body(decoder, await read_body(request, limits), limits)
        headers = {name: request.headers[name] for name in route.headers if name in request.headers}
        result = await route.handler(Call(services, parameters, body, headers))
        return web.Response(status=route.status, body=ENCODER.encode(result), headers=JSON_HEADERS)

    return answer


def read_parameters(route: Route, request: web.Request) -> msgspec.Struct:
    """Path and query as the route's Struct. What the path cannot mean is not found; a wrong query is refused."""
    given = {**request.query, **request.match_info}
    try:
        return msgspec.convert(given, route.parameters, strict=False)
    except msgspec.ValidationError as error:
        offence = offence_of(error, "query")
        if offence.path.removeprefix("query.") in request.match_info:
            raise Refusal(next((each for each in route.errors if each.status == 404), NOT_FOUND)) from None
        raise Refusal(INVALID_INPUT, f"{offence.message} (at {offence.path})", offences=[offence]) from None
