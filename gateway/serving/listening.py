"""An HTTP connection of aiohttp that answers bytes that are not HTTP with a problem, too."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong

from leasehold.concurrency.ending import close_in_copies
from leasehold.errors import SettingsError
from leasehold.gateway.http.headers import REQUEST_ID, request_id_of
from leasehold.gateway.http.problems import (
    ADDRESS_TOO_LONG,
    HEADER_TOO_LONG,
    INTERNAL,
    MALFORMED_REQUEST,
    ProblemType,
    Refusal,
)
from leasehold.gateway.http.reading import RequestLimits
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.serving.application import build_application
from leasehold.gateway.serving.handling import problem_response
from leasehold.settings import Settings
from leasehold.settings.settings import seconds_to_stop

# They differ because the error names nothing but the limit.
LONGEST_LINE = 8192
LONGEST_FIELD = 8190

log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """Answers problem+json instead of text, and logs malformed requests at debug level only."""

    __slots__ = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As aiohttp's."""
        super().connection_made(transport)
        close_in_copies(transport.get_extra_info("socket"))

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
        request_id = request_id_of(request)
        if status >= 500:
            log.error("request %s failed outside of the application", request_id, exc_info=exc)
        else:
            log.debug("request %s is no HTTP: %s", request_id, message)
        response = problem_response(Refusal(_problem_of(status, exc)), request_id)
        response.headers[REQUEST_ID] = request_id
        response.force_close()
        return response

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write an answer. Where no route takes the request, aiohttp answers an expectation by itself; we answer as without."""
        if isinstance(resp, web.HTTPExpectationFailed) and isinstance(request, web.Request):
            request_id = request_id_of(request)
            resp = problem_response(request.match_info.http_exception or web.HTTPNotFound(), request_id)
            resp.headers[REQUEST_ID] = request_id
        return await super().finish_response(request, resp, start_time)


def _problem_of(status: int, error: BaseException | None) -> ProblemType:
    if isinstance(error, LineTooLong):
        return ADDRESS_TOO_LONG if error.args[1] == LONGEST_LINE else HEADER_TOO_LONG
    return INTERNAL if status >= 500 else MALFORMED_REQUEST


ANSWER_SECONDS = 1.0  # for writing out an answer while stopping
ARRIVAL_ROUNDS = 3  # of the loop, from the kernel to the runner: a task for the connection, its transport, its protocol


@asynccontextmanager
async def open_gateway(settings: Settings, services: GatewayServices) -> AsyncGenerator[str]:
    """A bound gateway; yields its URL. Leaving it drains: it accepts no more connections and finishes the requests in
    flight within `settings.drain_seconds`."""
    application = build_application(services, settings.gateway_prefix)
    runner = web.AppRunner(application, shutdown_timeout=ANSWER_SECONDS)
    await runner.setup()
    try:
        server = await _listen(runner, settings, services.limits)
        try:
            yield _url_of(server)
        finally:
            await _stop_listening(server)
            services.stopping.set()
            services.stream.close()
            seconds, _ = seconds_to_stop(settings)
            if not await services.requests.finish(seconds):
                log.warning("gateway gave up waiting for requests after %g s", seconds)
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, settings: Settings, limits: RequestLimits) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    manager = runner.server
    assert manager is not None

    def connect() -> Connection:
        return Connection(
            manager,
            loop=loop,
            access_log=None,  # pyright: ignore[reportArgumentType]
            auto_decompress=False,
            keepalive_timeout=limits.idle_seconds,
            lingering_time=limits.linger_seconds,
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_FIELD,
        )

    with binding(settings):
        server = await loop.create_server(connect, settings.gateway_host, settings.gateway_port, backlog=1024)
    for each in server.sockets:
        close_in_copies(each)
    return server


async def _stop_listening(server: asyncio.Server) -> None:
    """Close the port. What it has accepted arrives first: a closed server would leave such a connection open for ever."""
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # the loop of Windows has no readers
        for each in server.sockets:
            loop.remove_reader(each.fileno())
    for _ in range(ARRIVAL_ROUNDS):
        await asyncio.sleep(0)
    server.close()


async def check_address(settings: Settings) -> None:
    """Raises SettingsError if the address cannot be bound, before anything is opened."""
    with binding(settings):
        server = await asyncio.get_running_loop().create_server(
            asyncio.Protocol, settings.gateway_host, settings.gateway_port, start_serving=False
        )
    server.close()


@contextmanager
def binding(settings: Settings) -> Generator[None]:
    """Raises SettingsError where an address cannot be bound."""
    try:
        yield
    except OSError as error:
        place = f"{settings.gateway_host}:{settings.gateway_port}"
        reason = error.strerror or error
        raise SettingsError(
            f"the gateway cannot listen on {place} ({reason}); choose another --host or --port"
        ) from error


def _url_of(server: asyncio.Server) -> str:
    host, port = server.sockets[0].getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
