"""The aiohttp application: the routes, the headers of every answer, and one middleware that turns every error into a problem."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cache, partial

from aiohttp import HttpVersion11, web

from leasehold.gateway.access.guard import Guard
from leasehold.gateway.http.headers import PREFIX, REQUEST_ID, Cors, prefix_of, request_id_of
from leasehold.gateway.http.problems import SLOW_BODY, classify, problem_headers, problem_of
from leasehold.gateway.http.replies import ENCODER, PLAIN
from leasehold.gateway.metrics import REQUESTS, count_requests
from leasehold.gateway.route_table import ROUTES
from leasehold.gateway.routing.handling import Handler, make_handler
from leasehold.gateway.routing.routes import Route
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.serving.dashboard import dashboard_routes, is_for_a_page, page_answer
from leasehold.gateway.serving.outage import GatewayOutage
from leasehold.observability.context import answering

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


class Drain:
    """Counts requests until `finish`, which waits for those in flight, also for those whose body still arrives."""

    def __init__(self) -> None:
        self.begun = False
        self._in_flight = 0
        self._empty = asyncio.Event()
        self._empty.set()

    @contextmanager
    def request(self) -> Generator[None]:
        """Around each request."""
        self._in_flight += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._empty.set()

    async def finish(self, seconds: float) -> bool:
        """Waits until nothing is in flight, at most `seconds`. Returns whether everything was finished."""
        self.begun = True
        try:
            async with asyncio.timeout(seconds):
                await self._empty.wait()
        except TimeoutError:
            return False
        return True


log = logging.getLogger(__name__)

OUTAGE = web.AppKey("outage", GatewayOutage)
DRAIN = web.AppKey("drain", Drain)
PROBLEM_HEADERS = {**PLAIN, "Content-Type": "application/problem+json"}


def build_application(
    services: GatewayServices,
    guard: Guard,
    routes: Iterable[Route] = ROUTES,
    *,
    cors: Cors | None = None,
    prefix: str = "",
) -> web.Application:
    """The application that serves `routes`: their methods, HEAD where there is GET, and OPTIONS; and the dashboard.
    All of it also below `prefix`, for proxies that do not take that away."""
    application = web.Application(
        middlewares=[count_requests, answer_problems], client_max_size=services.limits.body_bytes
    )
    application[DRAIN] = Drain()
    application[PREFIX] = prefix
    application[REQUESTS] = services.requests
    outage = application[OUTAGE] = GatewayOutage(services.client.ping)
    application.on_cleanup.append(lambda _application: outage.close())
    application.on_response_prepare.append(add_headers(cors or Cors()))
    routes = tuple(routes)
    pattern = cache(partial(pattern_of, routes=routes))
    methods: dict[str, list[str]] = {}
    heads = ("", prefix) if prefix else ("",)

    def add(method: str, path: str, handler: Handler) -> None:
        methods.setdefault(path, []).append(method)
        for head in heads:
            application.router.add_route(method, head + pattern(path), handler, expect_handler=meet_expectation)

    for route in routes:
        handler = make_handler(route.worded or route, services, guard, services.limits)
        for method in (route.method, "HEAD") if route.method == "GET" else (route.method,):
            add(method, route.path, handler)
    for path, allowed in list(methods.items()):
        add("OPTIONS", path, _tell_methods([*allowed, "OPTIONS"]))
    for path, handler in dashboard_routes():
        for head in heads:
            application.router.add_get(head + path, handler, expect_handler=meet_expectation)
    return application


def pattern_of(path: str, routes: Iterable[Route]) -> str:
    """The path as aiohttp takes it: a parameter is anything but a slash, with braces, too, which aiohttp leaves out by itself.
    `/jobs/{id}` does not match `/jobs/counts` where that is a path of its own, so that a method which only the former takes
    is refused there."""
    head, found, tail = path.partition("/{")
    if not found:
        return path
    name, _, rest = tail.partition("}")
    siblings = {
        each.path.removeprefix(f"{head}/").partition("/")[0] for each in routes if each.path.startswith(f"{head}/")
    }
    words = "|".join(sorted(re.escape(each) for each in siblings if not each.startswith("{")))
    others = f"(?!(?:{words})(?:/|$))" if words else ""
    further = re.sub(r"{(\w+)}", r"{\1:[^/]+}", rest)
    return f"{head}/{{{name}:{others}[^/]+}}{further}"


async def meet_expectation(request: web.Request) -> None:
    """Send `100 Continue` to a client that waits for it; another expectation is ignored, as HTTP allows."""
    if request.version == HttpVersion11 and request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the answer has not begun


def _tell_methods(methods: Iterable[str]) -> Handler:
    headers = {"Allow": ", ".join(sorted(methods)), "Server": PLAIN["Server"]}

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=204, headers=headers)

    return answer


@web.middleware
async def answer_problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Counts the request for the drain, gives it an id, and answers errors as problems."""
    request_id = request_id_of(request)
    drain = request.app[DRAIN]
    with drain.request(), answering(request_id):
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
        if drain.begun:
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
