"""Requests that need much memory take turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from leasehold.gateway.http.problems import ProblemType, Refusal

AT_ONCE = 2
MOST_WAITING = 8


class Turns:
    """Lets so many go on at once and so many others wait; who comes when those wait is refused."""

    def __init__(self, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._most_waiting = most_waiting
        self._waiting = 0

    @asynccontextmanager
    async def take(self, problem: ProblemType) -> AsyncGenerator[None]:
        """Go on when it is one's turn. Raises Refusal of this type where too many wait."""
        if self._free.locked() and self._waiting >= self._most_waiting:
            raise Refusal(problem, f"{self._waiting} others wait for their turn; try again.")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()
