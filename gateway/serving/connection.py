"""An HTTP connection of aiohttp that answers bytes that are not HTTP with a problem, too."""

from __future__ import annotations

import logging
import uuid

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong

from leasehold.gateway.http.problems import (
    ADDRESS_TOO_LONG,
    HEADER_TOO_LONG,
    INTERNAL,
    MALFORMED_REQUEST,
    ProblemType,
    Refusal,
)
from leasehold.gateway.serving.application import problem_response

# They differ because the error names nothing but the limit.
LONGEST_LINE = 8192
LONGEST_FIELD = 8190

log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """Answers problem+json instead of text, and logs malformed requests at debug level only."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to a request that never reached the application."""
        if isinstance(exc, ConnectionError) or request.writer.output_size > 0:
            raise ConnectionError("nobody listens any more, or half an answer is out already") from exc
        request_id = uuid.uuid4().hex
        if status >= 500:
            log.error("request %s failed outside of the application", request_id, exc_info=exc)
        else:
            log.debug("request %s is no HTTP: %s", request_id, message)
        response = problem_response(Refusal(_problem_of(status, exc)), request_id)
        response.headers["X-Request-Id"] = request_id
        response.force_close()
        return response

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write an answer. Where no route takes the request, aiohttp answers an expectation by itself; we answer as without."""
        if isinstance(resp, web.HTTPExpectationFailed) and isinstance(request, web.Request):
            request_id = uuid.uuid4().hex
            resp = problem_response(request.match_info.http_exception or web.HTTPNotFound(), request_id)
            resp.headers["X-Request-Id"] = request_id
        return await super().finish_response(request, resp, start_time)


def _problem_of(status: int, error: BaseException | None) -> ProblemType:
    if isinstance(error, LineTooLong):
        return ADDRESS_TOO_LONG if error.args[1] == LONGEST_LINE else HEADER_TOO_LONG
    return INTERNAL if status >= 500 else MALFORMED_REQUEST
