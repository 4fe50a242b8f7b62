"""Running the gateway: an asyncio process of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from functools import partial

from leasehold.app import App
from leasehold.checks.checkup import check_all
from leasehold.client import Client
from leasehold.concurrency.ending import stop_signals
from leasehold.database import Database, open_asyncio_database
from leasehold.database.migrations.state import check_version
from leasehold.errors import DatabaseUnavailable, LeaseholdError, SchemaOutdated
from leasehold.gateway.access.audit_log import AuditLog
from leasehold.gateway.access.guard import Guard, check_binding, check_tokens
from leasehold.gateway.access.sessions import Sessions
from leasehold.gateway.access.token_cache import open_tokens
from leasehold.gateway.cluster import Pod, WorkerSet, pod_of
from leasehold.gateway.http.reading import limits_of
from leasehold.gateway.metrics import DatabaseMetrics
from leasehold.gateway.routing.coalescer import Coalescer
from leasehold.gateway.routing.hiding import Hiding
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.serving.listening import check_address, open_gateway
from leasehold.gateway.stream.hub import Hub, Source
from leasehold.notify.doorbell import open_doorbell
from leasehold.observability.health import OutageReminder
from leasehold.payloads.options import payload_options
from leasehold.settings import Settings

log = logging.getLogger(__name__)

POOL_SIZE = 5
DATABASE_SECONDS = 20.0  # with the wait for a connection, so an answer comes within 30, unless a setting says more
AGAIN_SECONDS = 2.0
NAME = "leasehold gateway"
MOST_LOADED = 4 << 20
"""Bytes: of larger args and outputs in the payload store, answers have the claim check."""
NOT_BEGUN = 1  # whoever was told knows the signal


async def serve(
    settings: Settings,
    *,
    app: App | None = None,
    must_stop: Callable[[], bool] = bool,
    waits: bool = False,
) -> int:
    """Serves until SIGTERM, SIGHUP or SIGINT: then takes no more connections, finishes what is in flight (at most
    `settings.drain_seconds`), and returns 0, or 130 after SIGINT. A signal that comes before it serves ends it with 143 or
    130. A second signal ends the process at once.

    Args:
        settings: with `database_url` (empty: the PG… variables decide) and those of the gateway.
        app: check args against its kinds, and refuse other kinds.
        waits: begin also while the database cannot be reached or has no schema yet; where its tokens have to be counted, as soon
            as they can be. Until it is there, `/readyz` and every call that needs it answer 503.
        must_stop: whether a signal came before this was called.

    Raises:
        SettingsError: strangers could reach it without a token, the token is no good, or the address cannot be bound.
        SchemaMismatch: this code cannot serve the schema.
        DatabaseUnavailable, SchemaOutdated: without `waits`.
    """
    check_binding(settings)
    stop = StopSignal()
    try:
        if must_stop():
            return NOT_BEGUN
        await check_address(settings)
        fits = await _is_fit(settings, waits=waits)
        async with nullcontext() if fits else _reminding(settings), _open_when_there(settings, app, waits=waits) as url:
            log.info("gateway serves %s", url)
            await stop.wait()
            log.info("gateway stops: finishing the requests in flight")
    except asyncio.CancelledError:
        if stop.number is None:
            raise
        return 128 + stop.number
    finally:
        stop.close()
    return 128 + signal.SIGINT if stop.number == signal.SIGINT else 0


async def _is_fit(settings: Settings, *, waits: bool) -> bool:
    """Whether the schema is there. Raises SchemaMismatch where it never will, and without `waits` why it is not."""
    async with open_asyncio_database(settings.database_url or "", pool_size=1, application_name=NAME) as database:
        try:
            await check_version(database)
        except DatabaseUnavailable as error:
            if not waits:
                raise
            log.warning("the database cannot be reached: %s; what needs it is answered with 503 until it can", error)
        except SchemaOutdated:
            if not waits:
                raise
        else:
            return True
    return False


@asynccontextmanager
async def _reminding(settings: Settings) -> AsyncGenerator[None]:
    """Inside, a line says at once and then each minute that the schema is not there, until it is."""
    task = asyncio.create_task(_remind(settings))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _remind(settings: Settings) -> None:
    reminder, is_fit = OutageReminder(), False
    async with open_asyncio_database(settings.database_url or "", pool_size=1, application_name=NAME) as database:
        while not is_fit:
            try:
                await check_version(database)
                is_fit = True
            except SchemaOutdated as error:
                if reminder.due(time.monotonic()):
                    log.warning("%s; what needs the database is answered with 503 until that is done", error)
            except LeaseholdError as error:
                log.debug("the schema cannot be looked at: %s", error)
            await asyncio.sleep(AGAIN_SECONDS)


@asynccontextmanager
async def _open_when_there(settings: Settings, app: App | None, *, waits: bool) -> AsyncGenerator[str]:
    """As `open_service`, tried again every few seconds where it has to ask the database and that cannot be reached."""
    reminder = OutageReminder()
    async with AsyncExitStack() as stack:
        while True:
            try:
                url = await stack.enter_async_context(open_service(settings, app=app))
                break
            except (DatabaseUnavailable, SchemaOutdated) as error:
                if not waits:
                    raise
                if reminder.due(time.monotonic()):
                    log.warning("nothing is served before the database can be asked for tokens: %s", error)
            await asyncio.sleep(AGAIN_SECONDS)
        yield url


@asynccontextmanager
async def open_service(settings: Settings, *, app: App | None = None, pod: Pod | None = None) -> AsyncGenerator[str]:
    """A gateway and its database; yields the URL. The caller decides when it stops. `pod`: where it runs in Kubernetes, if
    its environment does not say so."""
    async with (
        open_asyncio_database(
            settings.database_url or "",
            pool_size=POOL_SIZE,
            timeout=settings.statement_seconds or DATABASE_SECONDS,
            application_name=NAME,
            direct_dsn=settings.direct_database_url,
        ) as database,
        open_doorbell(database) as doorbell,
        open_tokens(database, time.monotonic, listens=settings.notify) as tokens,
    ):
        await check_tokens(settings, tokens)
        payloads = payload_options(settings, most_loaded=MOST_LOADED)
        client = Client(database, app=app, doorbell=doorbell, listens=settings.notify, payloads=payloads)
        guard = Guard(settings, tokens, time.monotonic)
        async with open_gateway(settings, services_of(settings, database, client, guard, pod)) as url:
            yield url


def services_of(
    settings: Settings, database: Database, client: Client, guard: Guard, pod: Pod | None = None
) -> GatewayServices:
    """What handlers use. `pod` as in `open_service`."""
    return GatewayServices(
        client=client,
        coalescer=Coalescer(client.enqueue_with_outcomes),
        checks={
            "database": client.ping,
            "schema": partial(check_version, database),
        },
        limits=limits_of(settings),
        stream=Hub(Source(database, client.changes, listens=settings.notify)),
        audit_log=AuditLog(database),
        sessions=Sessions(guard, database, settings),
        database_metrics=DatabaseMetrics(client.metrics),
        worker_set=WorkerSet(settings, pod or pod_of(os.environ)),
        examine=partial(check_all, database, settings, "as this gateway reaches it", None),
        hiding=Hiding(settings.gateway_hidden_keys, settings.gateway_hidden_keys_by_kind),
    )


class StopSignal:
    """The first stop signal, for the task that makes this. A second one ends the process at once.

    Attributes:
        number: of the signal; None as long as there was none.
    """

    def __init__(self) -> None:
        self.number: signal.Signals | None = None
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._came = asyncio.Event()
        self._is_waiting = False
        self._handlers = {each: signal.getsignal(each) for each in stop_signals()}
        for each in self._handlers:
            self._loop.add_signal_handler(each, self._stop, each)

    async def wait(self) -> None:
        """Until it comes; one that comes before this is called cancels the task."""
        self._is_waiting = True
        await self._came.wait()

    def close(self) -> None:
        """Leave the signals to whoever had them before."""
        self._let_go()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _let_go(self) -> None:
        for each in self._handlers:
            self._loop.remove_signal_handler(each)

    def _stop(self, number: signal.Signals) -> None:
        self.number = number
        self._let_go()
        self._came.set()
        if not self._is_waiting and self._task is not None:
            self._task.cancel()
