"""A proxy that counts what the connections of one name say to Postgres, and does something at a chosen count."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Literal

import trio

from tests.support.proxy import Proxy, serving

Side = Literal["before", "after"]


class BoundaryProxy(Proxy):
    """Forwards bytes; requests of connections whose `application_name` ends in `name` are boundaries, counted from 1.

    At boundary `at` it calls `strike`, before the request is forwarded, or after it was forwarded and before its answer is.
    """

    def __init__(self, target: str, port: int, name: str) -> None:
        super().__init__(target, port)
        self._name = name.encode() + b"\x00"
        self.boundaries = 0
        self.at = 0
        self.side: Side = "before"
        self.strike: Callable[[], object] = lambda: None

    async def serve(self, client: trio.SocketStream) -> None:
        """One connection."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            async with client, await self._connect() as server, trio.open_nursery() as nursery:
                nursery.start_soon(self._forward_requests, client, server, nursery)
                nursery.start_soon(self._pump, server, client, "stall", nursery)

    async def _forward_requests(
        self, client: trio.SocketStream, server: trio.SocketStream, nursery: trio.Nursery
    ) -> None:
        is_counted = False
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            async for chunk in client:
                struck = is_counted and self._is_struck()
                if struck and self.side == "before":
                    self.strike()
                    break
                await server.send_all(chunk)
                if struck:
                    self.strike()
                    break
                is_counted = is_counted or self._name in chunk
        nursery.cancel_scope.cancel()

    def _is_struck(self) -> bool:
        self.boundaries += 1
        return self.boundaries == self.at


def boundary_proxied(dsn: str, name: str) -> AbstractAsyncContextManager[BoundaryProxy]:
    """Such a proxy in front of the Postgres that `dsn` means."""
    return serving(lambda port: BoundaryProxy(dsn, port, name))
