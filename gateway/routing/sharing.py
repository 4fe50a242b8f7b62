"""How callers share what is dear: one answer for several, or one after the other."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, TypeVar

import msgspec

from leasehold.gateway.http.problems import ProblemType, Refusal

T = TypeVar("T")

AT_ONCE = 2
MOST_WAITING = 8


class Places:
    """Lets two go on at once and eight others wait; who comes when those wait is refused."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    @asynccontextmanager
    async def take(self, problem: ProblemType) -> AsyncGenerator[None]:
        """Go on when it is one's turn. Raises Refusal of this type where too many wait."""
        if self._free.locked() and self._waiting >= MOST_WAITING:
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


class Kept(msgspec.Struct, frozen=True):
    """An answer, when it ended, and how many changes there had been when it was begun."""

    answer: Any
    ended: float
    changes: int


class Shared:
    """The last answers by what was asked for. There is one for each route and kind of caller, so they are few."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._kept: dict[Hashable, Kept] = {}
        self._locks: defaultdict[Hashable, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._changes = 0

    def changed(self) -> None:
        """Something was changed: no answer that was begun before is given again."""
        self._changes += 1

    async def get(self, key: Hashable, seconds: float, make: Callable[[], Awaitable[T]]) -> T:
        """The answer that ended less than `seconds` before this call or after it, made anew where there is none. An error is not
        kept."""
        asked = self._now()
        async with self._locks[key]:
            kept = self._kept.get(key)
            if kept is None or kept.changes != self._changes or asked - kept.ended >= seconds:
                changes = self._changes
                answer = await make()
                kept = self._kept[key] = Kept(answer, self._now(), changes)
            return kept.answer
