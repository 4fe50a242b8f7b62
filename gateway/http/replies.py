"""From what a handler returns to an HTTP response."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from aiohttp import web

JSON = "application/json"
ENCODER = msgspec.json.Encoder()
PLAIN = {
    "Content-Type": JSON,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Server": "leasehold",
}
"""The headers of every answer that says nothing else."""
WITHOUT_BODY = (204, 304)
NONE: Mapping[str, str] = MappingProxyType({})


class Reply(msgspec.Struct, frozen=True, eq=False):
    """An answer with another of the route's statuses, or with headers of its own."""

    body: object = None
    status: int | None = None
    headers: Mapping[str, str] = NONE


def response_of(result: object, status: int, headers: Mapping[str, str]) -> web.Response:
    """The response for the result of a handler. Bytes are sent unchanged, everything else as JSON."""
    if isinstance(result, Reply):
        status = result.status or status
        headers = {**headers, **result.headers}
        result = result.body
    if status in WITHOUT_BODY:
        return web.Response(status=status, headers={name: headers[name] for name in headers if name != "Content-Type"})
    body = result if isinstance(result, bytes) else ENCODER.encode(result)
    return web.Response(status=status, body=body, headers=headers)


def hang_up(request: web.Request) -> None:
    """Close the connection at once: a client that reads nothing would not read an orderly end either."""
    if request.transport is not None:
        request.transport.abort()


def is_known(tag: str, if_none_match: str | None) -> bool:
    """Whether the caller's If-None-Match header (RFC 9110 §13.1.2) names this tag."""
    if if_none_match is None:
        return False
    given = {each.strip().removeprefix("W/") for each in if_none_match.split(",")}
    return tag in given or given == {"*"}
