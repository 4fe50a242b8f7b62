"""A request, from aiohttp to the handler of its route and back: admitted, decoded, answered; and errors answered as problems."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
from aiohttp import web

from leasehold.gateway.access.audit_log import Act, describe, is_audited
from leasehold.gateway.access.guard import Guard, lacks_scope
from leasehold.gateway.access.identities import ANONYMOUS, Scope
from leasehold.gateway.http.headers import prefix_of, request_id_of
from leasehold.gateway.http.problems import (
    BODY_TOO_LARGE,
    INVALID_INPUT,
    MALFORMED_REQUEST,
    SLOW_BODY,
    TOO_DEEP,
    UNEXPECTED_BODY,
    UNSUPPORTED_MEDIA_TYPE,
    Refusal,
    classify,
    problem_headers,
    problem_of,
    refuse_field,
)
from leasehold.gateway.http.reading import exceeds_depth, find_offence, refuse_shape, refuse_syntax
from leasehold.gateway.http.replies import ENCODER, JSON, PLAIN, response_of
from leasehold.gateway.http.targets import check_accept, read_parameters
from leasehold.gateway.metrics import REQUESTS
from leasehold.gateway.routing.routes import Call, Route, always
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.serving.dashboard import is_for_a_page, page_answer
from leasehold.gateway.serving.outage import GatewayOutage
from leasehold.observability.context import answering

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LISTS = frozenset({"Prefer"})
"""Request headers of which several are one list (RFC 9110 §5.3)."""
CHARSET = "utf-8"

log = logging.getLogger(__name__)

OUTAGE = web.AppKey("outage", GatewayOutage)
PROBLEM_HEADERS = {**PLAIN, "Content-Type": "application/problem+json"}


@web.middleware
async def answer_problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Gives the request an id, and answers errors as problems."""
    request_id = request_id_of(request)
    with answering(request_id):
        try:
            response = await handler(request)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except web.HTTPNotFound as error:
            is_page = is_for_a_page(request)
            response = page_answer(request, 404) if is_page else problem_response(error, request_id)
        except Exception as error:
            response = problem_response(error, request_id)
            if response.status == 503:
                request.app[OUTAGE].refused(classify(error), error)
            _log(error, response.status, request_id, f"{request.method} {request.path}")
        if request.app[REQUESTS].is_draining:
            response.force_close()
        return response


def problem_response(error: BaseException, request_id: str) -> web.Response:
    """The answer to an error."""
    problem = problem_of(error, request_id)
    headers = {**PROBLEM_HEADERS, **problem_headers(error)}
    response = web.Response(status=problem.status, body=ENCODER.encode(problem), headers=headers)
    if problem.code == SLOW_BODY.code:
        response.force_close()
    return response


def _log(error: Exception, status: int, request_id: str, line: str) -> None:
    """Log our own faults in full. Faults of callers, and outages that `GatewayOutage` reports, are logged at debug level
    only."""
    if status == 500:
        log.error("request %s failed: %s", request_id, line, exc_info=error)
    else:
        log.debug("request %s was refused: %s: %s", request_id, line, error)


class RouteHandler:
    """The aiohttp handler of a route."""

    def __init__(self, route: Route, services: GatewayServices, guard: Guard) -> None:
        self._route = route
        self._services = services
        self._guard = guard
        self._handle = self._shown if route.scope is Scope.READ else route.handler
        self._decoder: msgspec.json.Decoder[Any] | None = (
            None if route.request is None else msgspec.json.Decoder(route.request)  # pyright: ignore[reportArgumentType]
        )
        self._headers = PLAIN if route.media_type == JSON else {**PLAIN, "Content-Type": route.media_type}
        self._action = f"{route.method} {route.alias_of or route.path}"
        self._is_audited = is_audited(route.method, route.path, route.scope)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Access, parameters, body, handler, answer, in this order."""
        route, services = self._route, self._services
        identity, is_admitted = ANONYMOUS, always
        if route.scope is not None:
            identity = await self._guard.admit(request, route.scope, outlasts_database=route.outlasts_database)
            if route.also is not None and route.also not in identity.scopes:
                raise lacks_scope(identity, route.also)
            is_admitted = partial(self._guard.still_admits, request, route.scope)
        check_accept(request, route.media_type)
        parameters = read_parameters(request, route.parameters, route.errors)
        headers, prefix = _read_headers(request, route), prefix_of(request)
        raw = await self._read_body(request)
        body = None if self._decoder is None else self._decode(self._decoder, raw)
        call = Call(services, parameters, body, headers, identity, is_admitted, raw, prefix)
        if route.is_raw:
            return await route.handler(call, request)  # pyright: ignore[reportReturnType]
        if route.shared_seconds:
            key = route.path, services.hiding.concerns(identity)
            result = await services.shared.get(key, route.shared_seconds, lambda: self._encoded(call))
        elif route.method == "GET":
            result = await self._handle(call)
        else:
            try:
                result = await (self._audited(request, call) if self._is_audited else self._handle(call))
            finally:
                services.shared.changed()
        return response_of(result, route.status, self._headers)

    async def _encoded(self, call: Call[Any, Any]) -> bytes:
        return ENCODER.encode(await self._handle(call))

    async def _shown(self, call: Call[Any, Any]) -> object:
        """The result of the handler, without what this caller is not shown."""
        result = await self._route.handler(call)
        hiding = self._services.hiding
        return hiding.answer(result) if hiding.concerns(call.identity) else result

    async def _audited(self, request: web.Request, call: Call[Any, Any]) -> object:
        """The result of a handler whose call belongs in the audit log."""
        act = Act(
            identity=call.identity,
            action=self._action,
            detail=describe(call.parameters, call.body),
            address=request.remote,
            request_id=request_id_of(request),
        )
        return await self._services.audit_log.audited(act, self._route.status, lambda: self._handle(call))

    async def _read_body(self, request: web.Request) -> bytes:
        """The whole body. Refuses one that the route would not read, is not plain JSON in UTF-8 by its headers, is too large
        or too slow."""
        limits, length = self._services.limits, request.content_length
        is_none = not request.body_exists or length == 0
        if self._decoder is None:
            # What it asks for would be ignored. A chunked body tells its length at its end only.
            if not is_none and (length or await self._in_time(request.content.read(1))):
                detail = f"{request.method} {request.path} takes no body and would ignore it; send none."
                raise Refusal(UNEXPECTED_BODY, detail)
            return b""
        if is_none and self._route.is_body_optional:
            return b"{}"
        if request.content_type != JSON or "Content-Encoding" in request.headers:
            raise Refusal(UNSUPPORTED_MEDIA_TYPE, "Send the body uncompressed, with 'Content-Type: application/json'.")
        if (request.charset or CHARSET).lower() != CHARSET:
            raise Refusal(UNSUPPORTED_MEDIA_TYPE, f"JSON is UTF-8 (RFC 8259), not {request.charset}.")
        if (length or 0) > limits.body_bytes:
            raise Refusal(BODY_TOO_LARGE, f"The body has {length} bytes, at most {limits.body_bytes} fit.")
        if request.content.is_eof():  # it came with the head; a timeout costs more than reading it
            return await request.read()
        return await self._in_time(request.read())

    async def _in_time(self, reading: Awaitable[bytes]) -> bytes:
        seconds = self._services.limits.read_seconds
        try:
            async with asyncio.timeout(seconds):
                return await reading
        except TimeoutError:
            raise Refusal(SLOW_BODY, f"The body was not complete after {seconds:g} s.") from None

    def _decode(self, decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
        """The body as the type that the route takes. A refusal names the path of the wrong field."""
        depth = self._services.limits.json_depth
        if exceeds_depth(body, depth):
            raise Refusal(TOO_DEEP, f"The body is nested more than {depth} levels deep.")
        try:
            value = decoder.decode(body)
        except msgspec.ValidationError as error:
            raise refuse_shape(error, body, decoder.type) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise refuse_syntax(error, body) from None
        if b"\\u0000" in body and (offence := find_offence(body)):
            raise Refusal(INVALID_INPUT, offence.message, offences=[offence])
        return value


def _read_headers(request: web.Request, route: Route) -> dict[str, str]:
    """The headers that the handler reads. Refuses those that the route refuses."""
    for name, reason in route.refused_headers.items():
        if name in request.headers:
            raise refuse_field(f"header.{name}", reason)
    return {name: _value_of(request, name) for name in route.headers if name in request.headers}


def _value_of(request: web.Request, name: str) -> str:
    """The value of a header that is there; of one that makes a list, all values. Refuses two where only one counts."""
    values = request.headers.getall(name)
    if len(values) > 1 and name not in LISTS:
        raise Refusal(MALFORMED_REQUEST, f"There is more than one header {name}.")
    return ", ".join(values)
