"""Counting the requests in flight, so that a stopping gateway can finish them."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class Drain:
    """Counts requests until `finish`, which waits for those in flight, also for those whose body still arrives."""

    def __init__(self) -> None:
        self.begun = False
        self._in_flight = 0
        self._empty = asyncio.Event()
        self._empty.set()

    @contextmanager
    def request(self) -> Generator[None]:
        """Around each request."""
        self._in_flight += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._empty.set()

    async def finish(self, seconds: float) -> bool:
        """Waits until nothing is in flight, at most `seconds`. Returns whether everything was finished."""
        self.begun = True
        try:
            async with asyncio.timeout(seconds):
                await self._empty.wait()
        except TimeoutError:
            return False
        return True
