"""A gateway on a port: bound, drained, closed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress

from aiohttp import web

from leasehold.client import Client
from leasehold.errors import SettingsError
from leasehold.gateway.access.audit_log import AuditLog
from leasehold.gateway.access.guard import Guard, is_loopback
from leasehold.gateway.access.sessions import SessionStore
from leasehold.gateway.access.sign_in import SignIn
from leasehold.gateway.access.token_cache import TokenStore
from leasehold.gateway.cluster.pod import Pod
from leasehold.gateway.cluster.worker_set import WorkerSet
from leasehold.gateway.http.cors import Cors
from leasehold.gateway.http.reading import RequestLimits, limits_of
from leasehold.gateway.metrics.checkup import Checkup
from leasehold.gateway.metrics.database import DatabaseMetrics
from leasehold.gateway.routing.coalescer import Coalescer
from leasehold.gateway.routing.hiding import Hiding
from leasehold.gateway.routing.services import Check, GatewayServices
from leasehold.gateway.serving.application import DRAIN, build_application
from leasehold.gateway.serving.connection import LONGEST_FIELD, LONGEST_LINE, Connection
from leasehold.gateway.stream.hub import Hub
from leasehold.settings import Settings
from leasehold.settings.stopping import seconds_to_stop

log = logging.getLogger(__name__)

ANSWER_SECONDS = 1.0  # for writing out an answer while stopping
ARRIVAL_ROUNDS = 3  # of the loop, from the kernel to the runner: a task for the connection, its transport, its protocol


@asynccontextmanager
async def open_gateway(
    settings: Settings,
    client: Client,
    checks: Mapping[str, Check],
    *,
    has_app: bool = False,
    limits: RequestLimits | None = None,
    stream: Hub | None = None,
    database_metrics: DatabaseMetrics | None = None,
    tokens: TokenStore | None = None,
    audit_log: AuditLog | None = None,
    sessions: SessionStore | None = None,
    pod: Pod | None = None,
    checkup: Checkup | None = None,
) -> AsyncGenerator[str]:
    """A bound gateway; yields its URL. Leaving it drains: it accepts no more connections and finishes the requests in
    flight within `settings.drain_seconds`. `limits` replaces those of the settings; `stream` sends changes,
    `database_metrics` measures the database, `tokens` finds callers, `audit_log` records what they do,
    `sessions` keeps browsers signed in, `pod` is where it runs in
    Kubernetes, and `checkup` examines the server."""
    limits = limits or limits_of(settings)
    cors = Cors(settings.gateway_cors_origins)
    is_public = not is_loopback(settings.gateway_host)
    guard = Guard(settings.gateway_token, tokens, cors=cors, is_public=is_public, clock=time.monotonic)
    services = GatewayServices(
        client,
        Coalescer(client.enqueue_many),
        checks,
        limits,
        has_app,
        stream=stream,
        database_metrics=database_metrics,
        audit_log=audit_log,
        hiding=Hiding(settings.gateway_hidden_keys, settings.gateway_hidden_keys_by_kind),
        sign_in=None if sessions is None else SignIn(guard, sessions, settings.gateway_prefix),
        worker_set=WorkerSet(settings, pod),
        checkup=checkup,
    )
    application = build_application(services, guard, cors=cors, prefix=settings.gateway_prefix)
    runner = web.AppRunner(application, shutdown_timeout=ANSWER_SECONDS)
    await runner.setup()
    try:
        server = await _listen(runner, settings, limits)
        try:
            yield _url_of(server)
        finally:
            await _stop_listening(server)
            services.stopping.set()
            if stream is not None:
                stream.close()
            seconds, _ = seconds_to_stop(settings)
            if not await application[DRAIN].finish(seconds):
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
        return await loop.create_server(connect, settings.gateway_host, settings.gateway_port, backlog=1024)


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
