"""Headers of every answer, streams and problems alike: its request id, what browsers may do with it, and the rate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from leasehold.gateway.access.guard import ANSWER_HEADERS
from leasehold.gateway.http.cors import Cors
from leasehold.gateway.http.request_ids import REQUEST_ID, request_id_of

SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""For answers that say nothing of it themselves. Strict-Transport-Security is for whoever speaks TLS: the proxy."""


def add_headers(cors: Cors) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """A handler for aiohttp's signal that an answer is about to be sent."""

    async def add(request: web.Request, response: web.StreamResponse) -> None:
        headers = response.headers
        headers[REQUEST_ID] = request_id_of(request)
        for name, value in SECURITY_HEADERS.items():
            headers.setdefault(name, value)
        for name, value in (*request.get(ANSWER_HEADERS, {}).items(), *cors.headers_for(request).items()):
            before = f"{headers[name]}, " if name == "Vary" and name in headers else ""
            headers[name] = before + value

    return add
