"""The aiohttp application: the routes, and the headers of every answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache

from aiohttp import HttpVersion11, web

from leasehold.gateway.http.headers import PREFIX, REQUEST_ID, Cors, prefix_of, request_id_of
from leasehold.gateway.http.replies import PLAIN
from leasehold.gateway.metrics import REQUESTS, count_requests
from leasehold.gateway.route_table import ROUTES
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.serving.dashboard import dashboard_routes
from leasehold.gateway.serving.handling import OUTAGE, Handler, RouteHandler, answer_problems
from leasehold.gateway.serving.outage import GatewayOutage

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
        if headers.get("Location", "").startswith("/"):
            headers["Location"] = prefix_of(request) + headers["Location"]
        headers[REQUEST_ID] = request_id_of(request)
        for name, value in SECURITY_HEADERS.items():
            headers.setdefault(name, value)
        for name, value in cors.headers_for(request).items():
            before = f"{headers[name]}, " if name == "Vary" and name in headers else ""
            headers[name] = before + value

    return add


def build_application(services: GatewayServices, prefix: str) -> web.Application:
    """The application that serves all routes: their methods, HEAD where there is GET, and OPTIONS; and the dashboard.
    All of it also below `prefix`, for proxies that do not take that away."""
    guard = services.sessions.guard
    application = web.Application(
        middlewares=[count_requests, answer_problems], client_max_size=services.limits.body_bytes
    )
    application[PREFIX] = prefix
    application[REQUESTS] = services.requests
    outage = application[OUTAGE] = GatewayOutage(services.client.ping)
    application.on_cleanup.append(lambda _application: outage.close())
    application.on_response_prepare.append(add_headers(guard.cors))
    pattern = cache(pattern_of)
    methods: dict[str, list[str]] = {}
    heads = ("", prefix) if prefix else ("",)

    def add(method: str, path: str, handler: Handler) -> None:
        methods.setdefault(path, []).append(method)
        for head in heads:
            application.router.add_route(method, head + pattern(path), handler, expect_handler=meet_expectation)

    for route in ROUTES:
        handler = RouteHandler(route.worded or route, services, guard).answer
        for method in (route.method, "HEAD") if route.method == "GET" else (route.method,):
            add(method, route.path, handler)
    for path, allowed in list(methods.items()):
        add("OPTIONS", path, _answer_methods([*allowed, "OPTIONS"]))
    for path, handler in dashboard_routes():
        for head in heads:
            application.router.add_get(head + path, handler, expect_handler=meet_expectation)
    return application


def pattern_of(path: str) -> str:
    """The path as aiohttp takes it: a parameter is anything but a slash, with braces, too, which aiohttp leaves out by itself.
    `/jobs/{id}` does not match `/jobs/counts` where that is a path of its own, so that a method which only the former takes
    is refused there."""
    head, found, tail = path.partition("/{")
    if not found:
        return path
    name, _, rest = tail.partition("}")
    siblings = {
        each.path.removeprefix(f"{head}/").partition("/")[0] for each in ROUTES if each.path.startswith(f"{head}/")
    }
    names = "|".join(sorted(re.escape(each) for each in siblings if not each.startswith("{")))
    others = f"(?!(?:{names})(?:/|$))" if names else ""
    further = re.sub(r"{(\w+)}", r"{\1:[^/]+}", rest)
    return f"{head}/{{{name}:{others}[^/]+}}{further}"


async def meet_expectation(request: web.Request) -> None:
    """Send `100 Continue` to a client that waits for it; another expectation is ignored, as HTTP allows."""
    if request.version == HttpVersion11 and request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the answer has not begun


def _answer_methods(methods: Iterable[str]) -> Handler:
    headers = {"Allow": ", ".join(sorted(methods)), "Server": PLAIN["Server"]}

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=204, headers=headers)

    return answer
