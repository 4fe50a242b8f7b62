"""The aiohttp application: the route table, and one middleware that turns every error into a problem."""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from collections.abc import Iterable

from aiohttp import web

from leasehold.gateway.access import Guard
from leasehold.gateway.drain import Drain
from leasehold.gateway.problems import SLOW_BODY, problem_headers, problem_of
from leasehold.gateway.routes import ENCODER, Handler, Route, make_handler
from leasehold.gateway.services import Services
from leasehold.gateway.table import ROUTES

logger = logging.getLogger(__name__)

DRAIN = web.AppKey("drain", Drain)
REQUEST_ID = "X-Request-Id"
SPEAKABLE = re.compile(r"[\w.:-]{1,128}", re.ASCII)
PROBLEM_HEADERS = {
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Server": "leasehold",
}


def build_application(services: Services, guard: Guard, routes: Iterable[Route] = ROUTES) -> web.Application:
    """The application that serves `routes`. It answers nothing but JSON."""
    application = web.Application(middlewares=[answer_problems], client_max_size=services.limits.body_bytes)
    application[DRAIN] = Drain()
    for route in routes:
        application.router.add_route(route.method, route.path, make_handler(route, services, guard, services.limits))
        if route.method == "GET":
            application.router.add_route("HEAD", route.path, make_handler(route, services, guard, services.limits))
    return application


@web.middleware
async def answer_problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Counts the request for the drain, gives it an id, and answers errors as problems."""
    given = request.headers.get(REQUEST_ID, "")
    request_id = given if SPEAKABLE.fullmatch(given) else uuid.uuid4().hex
    drain = request.app[DRAIN]
    with drain.request():
        try:
            response = await handler(request)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:
            response = problem_response(error, request_id)
            _log(error, response.status, request_id, f"{request.method} {request.path}")
        response.headers[REQUEST_ID] = request_id
        if drain.begun:
            response.force_close()
        return response


def problem_response(error: BaseException, request_id: str) -> web.Response:
    """The answer to whatever went wrong."""
    problem = problem_of(error, request_id)
    headers = {**PROBLEM_HEADERS, **problem_headers(error)}
    response = web.Response(status=problem.status, body=ENCODER.encode(problem), headers=headers)
    if problem.code == SLOW_BODY.code:
        response.force_close()
    return response


def _log(error: Exception, status: int, request_id: str, line: str) -> None:
    """Our own faults with all there is to know; the callers' only for whoever debugs."""
    if status == 500:
        logger.error("request %s failed: %s", request_id, line, exc_info=error)
    elif status > 500:
        logger.warning("request %s could not be served: %s: %s", request_id, line, error)
    else:
        logger.debug("request %s was refused: %s: %s", request_id, line, error)
