"""A gateway in a thread of its own, and a plain HTTP caller for it."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import msgspec

from leasehold.app import App
from leasehold.client import Client
from leasehold.database import Database
from leasehold.gateway.access.guard import Guard
from leasehold.gateway.access.token_cache import TokenCache
from leasehold.gateway.cluster import Pod
from leasehold.gateway.http.reading import RequestLimits
from leasehold.gateway.routing.services import ReadyCheck
from leasehold.gateway.serving.listening import ARRIVAL_ROUNDS, open_gateway
from leasehold.gateway.serving.serve import open_service, services_of
from leasehold.settings import Settings
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.tokens import FakeTokens
from tests.support.waiting import PATIENCE

T = TypeVar("T")


run = asyncio.run


class Answer(msgspec.Struct, frozen=True):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: Any


class RunningGateway:
    """A gateway that serves; `stop` drains it and waits."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[str]]) -> None:
        self._open = opening
        self._url: Future[str] = Future()
        self._thread = threading.Thread(target=lambda: run(self._main()), name="gateway")

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self._url.result(PATIENCE))
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    def url(self, path: str = "") -> str:
        """The address of a path."""
        host, port = self.address
        return f"http://{host}:{port}{path}"

    def start(self) -> None:
        self._thread.start()
        self._url.result(PATIENCE)

    def begin_stop(self) -> None:
        """Returns when the gateway does not listen any more."""

        async def begin() -> None:
            self._stopping.set()
            for _ in range(2 + ARRIVAL_ROUNDS):  # the gateway wakes up, takes what it has accepted, and closes its port
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(begin(), self.loop).result(PATIENCE)

    def begin_stop_now(self) -> None:
        """For callers in its loop."""
        self._stopping.set()

    def stop(self) -> None:
        """Returns when the gateway has ended."""
        with suppress(RuntimeError):  # its loop is closed: it has ended already
            self.loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def call(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One request on a connection of its own. `body` is sent as it is if it is bytes, else as JSON."""
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        raw = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        typed = {"Content-Type": "application/json"} if raw is not None else {}
        try:
            connection.request(method, path, raw, {**typed, **(headers or {})})
            response = connection.getresponse()
            text = response.read()
            return Answer(response.status, dict(response.headers), json.loads(text) if text else None)
        finally:
            connection.close()

    def done(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Any:
        """The body of the answer to a request that has to succeed."""
        answer = self.call(method, path, body, headers)
        assert answer.status in {200, 201}, answer.body
        return answer.body

    def fetch(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Answer:
        """The bytes at a path, which need not be JSON."""
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        try:
            connection.request(method, path, headers=dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, dict(response.headers), response.read())
        finally:
            connection.close()

    def token_with(self, admin: Mapping[str, str], *scopes: str) -> dict[str, str]:
        """The header with a new token of these scopes; `admin` is the header of somebody who may make one."""
        made = self.done("POST", "/api/tokens", {"name": "-".join(scopes), "scopes": scopes}, admin)
        return {"Authorization": f"Bearer {made['secret']}"}

    def connect(self) -> socket.socket:
        """A raw connection."""
        return socket.create_connection(self.address, timeout=PATIENCE)

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        try:
            async with self._open() as url:
                self._url.set_result(url)
                await self._stopping.wait()
        except BaseException as error:
            if not self._url.done():
                self._url.set_exception(error)
                return
            raise


@contextmanager
def running_gateway(
    client: FakeClient,
    *,
    checks: Mapping[str, ReadyCheck] | None = None,
    limits: RequestLimits | None = None,
    settings: Settings | None = None,
    tokens: FakeTokens | None = None,
    clock: Callable[[], float] = monotonic,
) -> Generator[RunningGateway]:
    """A gateway on a free port of loopback, stopped at the end. `clock` is that of its guard."""
    wanted = settings or Settings(gateway_port=0)

    def opening() -> AbstractAsyncContextManager[str]:
        guard = Guard(wanted, cast("TokenCache", tokens or FakeTokens()), clock)
        services = services_of(wanted, cast("Database", client), cast("Client", client), guard)
        changed = msgspec.structs.replace(services, checks=checks or {}, limits=limits or services.limits)
        return open_gateway(wanted, changed)

    with _running(opening) as gateway:
        yield gateway


@contextmanager
def running_service(
    database_url: str, *, app: App | None = None, pod: Pod | None = None, **settings: Any
) -> Generator[RunningGateway]:
    """A gateway on a free port of loopback with a database behind it, and perhaps in Kubernetes."""
    wanted = Settings(gateway_port=0, database_url=database_url, **settings)
    with _running(lambda: open_service(wanted, app=app, pod=pod)) as gateway:
        yield gateway


@contextmanager
def _running(opening: Callable[[], AbstractAsyncContextManager[str]]) -> Generator[RunningGateway]:
    gateway = RunningGateway(opening)
    gateway.start()
    try:
        yield gateway
    finally:
        gateway.stop()


def read_until_closed(connection: socket.socket) -> bytes:
    """Everything that the other side says until it hangs up."""
    heard = bytearray()
    while chunk := connection.recv(65_536):
        heard += chunk
    return bytes(heard)
