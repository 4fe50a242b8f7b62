"""One HTTP connection: aiohttp's, except that bytes which are no HTTP get a problem for an answer, too."""

from __future__ import annotations

import logging
import uuid

from aiohttp import web

from leasehold.gateway.application import problem_response
from leasehold.gateway.problems import INTERNAL, MALFORMED_REQUEST, Refusal

logger = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """Answers problem+json where aiohttp would answer text, and does not shout about strangers' garbage."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to what never reached the application."""
        if isinstance(exc, ConnectionError) or request.writer.output_size > 0:
            raise ConnectionError("nobody listens any more, or half an answer is out already") from exc
        request_id = uuid.uuid4().hex
        if status >= 500:
            logger.error("request %s failed outside of the application", request_id, exc_info=exc)
        else:
            logger.debug("request %s is no HTTP: %s", request_id, message)
        response = problem_response(Refusal(INTERNAL if status >= 500 else MALFORMED_REQUEST), request_id)
        response.headers["X-Request-Id"] = request_id
        response.force_close()
        return response
