"""From a route to the aiohttp handler that serves it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
from aiohttp import web

from leasehold.gateway.access.audit_log import Act, audited, describe, is_audited
from leasehold.gateway.access.guard import Guard, lacks_scope
from leasehold.gateway.access.identities import ANONYMOUS, Scope
from leasehold.gateway.http.headers import prefix_of, request_id_of
from leasehold.gateway.http.problems import MALFORMED_REQUEST, Refusal, refuse_field
from leasehold.gateway.http.reading import RequestLimits, decode_body, read_body, refuse_body
from leasehold.gateway.http.replies import ENCODER, JSON, PLAIN, response_of
from leasehold.gateway.http.targets import check_accept, read_parameters
from leasehold.gateway.routing.routes import Call, Route, always
from leasehold.gateway.routing.services import GatewayServices

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LISTS = frozenset({"Prefer"})
"""Request headers of which several are one list (RFC 9110 §5.3)."""


def make_handler(route: Route, services: GatewayServices, guard: Guard, limits: RequestLimits) -> Handler:
    """The aiohttp handler of a route: access, parameters, body, handler, answer, in this order."""
    handler = _RouteHandler(route, services, guard, limits)
    return handler.answer_raw if route.is_raw else handler.answer


class _RouteHandler:
    def __init__(self, route: Route, services: GatewayServices, guard: Guard, limits: RequestLimits) -> None:
        self._route = route
        self._services = services
        self._guard = guard
        self._limits = limits
        self._decoder: msgspec.json.Decoder[Any] | None = (
            None if route.request is None else msgspec.json.Decoder(route.request)  # pyright: ignore[reportArgumentType]
        )
        self._headers = PLAIN if route.media_type == JSON else {**PLAIN, "Content-Type": route.media_type}
        self._action = f"{route.method} {route.alias_of or route.path}"
        self._audit_log = services.audit_log if is_audited(route.method, route.path, route.scope) else None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """The result of the route's handler as a response."""
        return response_of(await self._result_of(request), self._route.status, self._headers)

    async def answer_raw(self, request: web.Request) -> web.StreamResponse:
        """What the route's handler itself answers with."""
        return await self._route.handler(await self._call_of(request), request)  # pyright: ignore[reportReturnType]

    async def _result_of(self, request: web.Request) -> object:
        route = self._route
        call = await self._call_of(request)
        if route.shared_seconds:
            is_partly = self._services.hiding.concerns(call.identity)
            key = route.path, is_partly
            return await self._services.shared.get(key, route.shared_seconds, lambda: self._encoded(call))
        if route.method == "GET":
            return await self._shown(call)
        try:
            return await self._changed(request, call)
        finally:
            self._services.shared.changed()

    async def _encoded(self, call: Call[Any, Any]) -> bytes:
        return ENCODER.encode(await self._shown(call))

    async def _shown(self, call: Call[Any, Any]) -> object:
        """The result of the handler, without what this caller is not shown."""
        result = await self._route.handler(call)
        hiding = self._services.hiding
        return hiding.answer(result) if self._route.scope is Scope.READ and hiding.concerns(call.identity) else result

    async def _changed(self, request: web.Request, call: Call[Any, Any]) -> object:
        """The result of a handler that may change something, in the audit log where that belongs there."""
        route = self._route
        if self._audit_log is None:
            return await self._shown(call)
        act = Act(
            identity=call.identity,
            action=self._action,
            detail=describe(call.parameters, call.body),
            address=request.remote,
            request_id=request_id_of(request),
        )
        return await audited(self._audit_log, act, route.status, lambda: route.handler(call))

    async def _call_of(self, request: web.Request) -> Call[Any, Any]:
        route, decoder = self._route, self._decoder
        identity, is_admitted = ANONYMOUS, always
        if route.scope is not None:
            identity = await self._guard.admit(request, route.scope, outlasts_database=route.outlasts_database)
            if route.also is not None and route.also not in identity.scopes:
                raise lacks_scope(identity, route.also)
            is_admitted = partial(self._guard.still_admits, request, route.scope)
        check_accept(request, route.media_type)
        parameters = read_parameters(request, route.parameters, route.errors)
        headers, prefix = _read_headers(request, route), prefix_of(request)
        if decoder is None:
            await refuse_body(request, self._limits)
            return Call(self._services, parameters, None, headers, identity, is_admitted, prefix=prefix)
        is_left_out = route.is_body_optional and (not request.body_exists or request.content_length == 0)
        raw = b"{}" if is_left_out else await read_body(request, self._limits)
        body = decode_body(decoder, raw, self._limits)
        return Call(self._services, parameters, body, headers, identity, is_admitted, raw, prefix)


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
