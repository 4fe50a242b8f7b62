"""Callers that misbehave in a chosen way."""

from __future__ import annotations

from collections.abc import Callable

import trio

from leasehold.database import Caller, Row
from leasehold.errors import DatabaseUnavailable


class FragileCaller(Caller):
    """Passes calls on; those named in `lose_request` or `lose_reply` lose their connection once, before or after."""

    def __init__(self, inner: Caller) -> None:
        self._inner = inner
        self.lose_request: set[str] = set()
        self.lose_reply: set[str] = set()
        self.held_up: dict[str, trio.Event] = {}
        self.calls: list[str] = []
        self.before: Callable[[str], object] = bool

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        function = sql.partition("leasehold.")[2].partition("(")[0]
        self.calls.append(function)
        self.before(function)
        if function in self.lose_request:
            self.lose_request.discard(function)
            raise DatabaseUnavailable(f"the request to {function} got lost")
        rows = await self._inner.fetch(sql, *args, timeout=timeout)
        if function in self.held_up:
            await self.held_up[function].wait()
        if function in self.lose_reply:
            self.lose_reply.discard(function)
            raise DatabaseUnavailable(f"the reply of {function} got lost")
        return rows
