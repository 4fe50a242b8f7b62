"""A proxy between one process and Postgres that can do what networks do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import msgspec
import trio

Cut = Literal["request", "reply"]
READY = b"Z\x00\x00\x00\x05"
NOTIFICATION = 0x41
BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)


class Weather(msgspec.Struct):
    """How the network is now. `only`: a word in the application names of the connections that it is for; None: all."""

    only: str | None = None
    silent: bool = False  # nothing goes through, and nobody is told
    silent_replies: bool = False  # only towards the process
    refuses: bool = False  # new connections are closed at once
    latency: float = 0.0  # seconds, each way
    bytes_a_second: float = 0.0  # 0: no bound
    drops_notices: bool = False
    cuts: list[Cut] = msgspec.field(default_factory=list[Cut])


class Proxy:
    """Forwards the connections of one process to wherever Postgres is now."""

    def __init__(self, socket_path: Callable[[], str], port: int) -> None:
        self.port = port
        self.weather = Weather()
        self.cut_count = 0
        self._socket_path = socket_path
        self._changed = trio.Event()
        self._open: set[trio.CancelScope] = set()

    def dsn(self, database: str, process: str) -> str:
        """Leads through here, and says for which process."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}?sslmode=disable&faults.process={process}"

    def change(self, weather: Weather) -> None:
        """The weather is another from now on."""
        self.weather = weather
        self._changed.set()
        self._changed = trio.Event()

    def break_all(self) -> None:
        """Every open connection ends at once."""
        for scope in list(self._open):
            scope.cancel()

    async def serve(self, client: trio.SocketStream) -> None:
        """One connection."""
        if self.weather.refuses:
            await trio.aclose_forcefully(client)
            return
        with suppress(*BROKEN), trio.CancelScope() as scope:
            self._open.add(scope)
            try:
                async with client, await trio.open_unix_socket(self._socket_path()) as server:
                    link = _Link(self, client, server, scope)
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(link.forward_requests)
                        nursery.start_soon(link.forward_replies)
            finally:
                self._open.discard(scope)

    async def hold(self, *, name: bytes, is_reply: bool) -> None:
        """Wait as the weather wants it."""
        while self._concerns(name) and (self.weather.silent or (is_reply and self.weather.silent_replies)):
            await self._changed.wait()
        if self.weather.latency and self._concerns(name):
            await trio.sleep(self.weather.latency)

    def takes_cut(self, name: bytes, cut: Cut) -> bool:
        """Whether this message is to be the victim of a cut."""
        if not self._concerns(name) or cut not in self.weather.cuts:
            return False
        self.weather.cuts.remove(cut)
        self.cut_count += 1
        return True

    def _concerns(self, name: bytes) -> bool:
        return self.weather.only is None or self.weather.only.encode() in name


class _Link:
    """Both directions of one connection."""

    def __init__(
        self, proxy: Proxy, client: trio.SocketStream, server: trio.SocketStream, scope: trio.CancelScope
    ) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._scope = scope
        self._name = b""
        self._left = b""

    async def forward_requests(self) -> None:
        """From the process to Postgres."""
        with suppress(*BROKEN):
            async for chunk in self._client:
                if not self._name and b"application_name\x00" in chunk:
                    self._name = bytes(chunk).split(b"application_name\x00", 1)[1].split(b"\x00", 1)[0]
                await self._proxy.hold(name=self._name, is_reply=False)
                if self._name and self._proxy.takes_cut(self._name, "request"):
                    break
                await self._server.send_all(chunk)
                if rate := self._proxy.weather.bytes_a_second:
                    await trio.sleep(len(chunk) / rate)
        self._scope.cancel()

    async def forward_replies(self) -> None:
        """From Postgres to the process."""
        with suppress(*BROKEN):
            async for chunk in self._server:
                await self._proxy.hold(name=self._name, is_reply=True)
                if READY in chunk and self._proxy.takes_cut(self._name, "reply"):
                    break
                kept = self._without_notices(chunk) if self._name.endswith(b" listener") else chunk
                if kept:
                    await self._client.send_all(bytes(kept))
                if rate := self._proxy.weather.bytes_a_second:
                    await trio.sleep(len(chunk) / rate)
        self._scope.cancel()

    def _without_notices(self, chunk: bytes | bytearray) -> bytes:
        """Whole messages only; the rest waits for the next chunk."""
        data = self._left + bytes(chunk)
        kept, at = bytearray(), 0
        while len(data) - at >= 5:
            length = 1 + int.from_bytes(data[at + 1 : at + 5], "big")
            if len(data) - at < length:
                break
            if not (self._proxy.weather.drops_notices and data[at] == NOTIFICATION):
                kept += data[at : at + length]
            at += length
        self._left = data[at:]
        return bytes(kept)


async def open_proxy(nursery: trio.Nursery, socket_path: Callable[[], str]) -> Proxy:
    """A proxy on a free port, for as long as the nursery lives."""
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    proxy = Proxy(socket_path, listener.socket.getsockname()[1])
    nursery.start_soon(trio.serve_listeners, proxy.serve, [listener])
    return proxy
