"""Answers that many tabs ask for again and again: made once for all who ask within a moment.

A change through this gateway ends them, so whoever changes something sees it. What changes elsewhere is seen a moment later.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from time import monotonic

import msgspec


class Kept(msgspec.Struct, frozen=True):
    """An answer as it is sent, when it was begun, and how many changes there had been by then."""

    body: bytes
    begun: float
    changes: int


class Shared:
    """The last answers by what was asked for. There is one for each route and kind of caller, so they are few."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._kept: dict[Hashable, Kept] = {}
        self._turns: defaultdict[Hashable, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._changes = 0

    def changed(self) -> None:
        """Something was changed: no answer that was begun before is given again."""
        self._changes += 1

    async def get(self, key: Hashable, seconds: float, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """The answer that is at most `seconds` old, made anew where there is none. An error is not kept."""
        async with self._turns[key]:
            kept = self._kept.get(key)
            if kept is None or kept.changes != self._changes or self._now() - kept.begun >= seconds:
                changes, begun = self._changes, self._now()
                kept = self._kept[key] = Kept(await make(), begun, changes)
            return kept.body
