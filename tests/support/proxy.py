"""A proxy in front of Postgres that can stand still, or cut a connection at a chosen moment."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Literal, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

import trio

Mode = Literal["pass", "stall", "cut request", "cut reply"]

P = TypeVar("P", bound="Proxy")

READY_FOR_QUERY = b"Z\x00\x00\x00\x05"


class Proxy:
    """Forwards bytes between its clients and Postgres.

    Modes: *pass*; *stall*: nothing goes through, in either direction, and nobody is told; *cut request*: the next thing a
    client says never arrives, its connection breaks; *cut reply*: it arrives and is carried out, but the answer gets lost
    with the connection. After a cut the mode is *pass* again.
    """

    def __init__(self, target: str, port: int) -> None:
        parts = urlsplit(target)
        options = parse_qs(parts.query)
        self._socket_folder = options.get("host", [""])[0]
        self._host = parts.hostname or "127.0.0.1"
        self._port = int(options.get("port", [str(parts.port or 5432)])[0])
        user = options.get("user", [parts.username or ""])[0]
        password = f":{quote(parts.password)}" if parts.password else ""
        self.dsn = f"postgresql://{quote(user)}{password}@127.0.0.1:{port}{parts.path}"
        self.mode: Mode = "pass"
        self.cuts = 0
        self._moving = trio.Event()
        self._moving.set()

    def stall(self) -> None:
        """Stand still."""
        self.mode = "stall"
        self._moving = trio.Event()

    def resume(self) -> None:
        """Go on."""
        self.mode = "pass"
        self._moving.set()

    async def serve(self, client: trio.SocketStream) -> None:
        """One connection."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            async with client, await self._connect() as server, trio.open_nursery() as nursery:
                nursery.start_soon(self._pump, client, server, "cut request", nursery)
                nursery.start_soon(self._pump, server, client, "cut reply", nursery)

    async def _connect(self) -> trio.SocketStream:
        if self._socket_folder.startswith("/"):
            return await trio.open_unix_socket(f"{self._socket_folder}/.s.PGSQL.{self._port}")
        return await trio.open_tcp_stream(self._host, self._port)

    async def _pump(self, source: trio.SocketStream, sink: trio.SocketStream, cut: Mode, nursery: trio.Nursery) -> None:
        ending = b""  # of the chunk before: the mark may come in two parts
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            async for chunk in source:
                await self._moving.wait()
                if self.mode == cut and (cut == "cut request" or READY_FOR_QUERY in ending + chunk):
                    self.mode = "pass"
                    self.cuts += 1
                    break
                await sink.send_all(chunk)
                ending = chunk[1 - len(READY_FOR_QUERY) :]
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def serving(make: Callable[[int], P]) -> AsyncGenerator[P]:
    """A proxy made for a port that is free; connect to `proxy.dsn`."""
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        proxy = make(listeners[0].socket.getsockname()[1])
        nursery.start_soon(trio.serve_listeners, proxy.serve, listeners)
        yield proxy
        nursery.cancel_scope.cancel()


def proxied(dsn: str) -> AbstractAsyncContextManager[Proxy]:
    """A proxy in front of the Postgres that `dsn` means."""
    return serving(partial(Proxy, dsn))
