"""Callers that come one by one share one statement.

Enter: what a caller has to write. Leave: its own result, after the commit, or its own error. One statement is in flight at a
time; those that come meanwhile share the next one, in the order in which they came. A refused list is halved until the
refused one is alone; the others are written. Plain asyncio.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from copy import copy
from itertools import chain
from time import monotonic
from typing import Generic, TypeVar

import msgspec

from leasehold.errors import DatabaseUnavailable, LeaseholdError
from leasehold.payloads.archive import CERTAIN

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_ITEMS = 200
"""How many share a statement."""
MOST_SIZE = 1_048_576
"""What their sizes may add up to; a larger item is sent alone."""
CLOSED = DatabaseUnavailable("the client was closed before there was an answer; the job may have been written or not")


class _Waiting(msgspec.Struct, Generic[Item, Result], frozen=True, eq=False):
    item: Item
    size: int
    since: float
    outcome: asyncio.Future[Result]


class SharedStatements(Generic[Item, Result]):
    """Whoever waits for the next statement.

    Args:
        send: one statement: a result for each item, in their order.
    """

    def __init__(self, send: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]) -> None:
        self._send = send
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._driver: asyncio.Task[None] | None = None

    @property
    def is_sending(self) -> bool:
        """Whether a statement is in flight, or about to be."""
        return self._driver is not None

    def join(self, item: Item, size: int) -> asyncio.Future[Result]:
        """Wait for the next statement, which somebody has to `start`. Who is cancelled may have been written or not."""
        waiting = _Waiting[Item, Result](item, size, monotonic(), asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        return waiting.outcome

    def start(self) -> None:
        """Send what waits, and what comes meanwhile."""
        if self._waiting and self._driver is None:
            self._driver = asyncio.create_task(self._drive(), name="shared statements")

    def give_up(self, since: float, error: Exception) -> None:
        """Fail those that have waited since before then."""
        while self._waiting and self._waiting[0].since < since:
            _fail([self._waiting.popleft()], error)

    async def close(self, seconds: float) -> None:
        """Let those that wait arrive, for so long at the most."""
        if self._driver is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._driver, seconds)

    async def _drive(self) -> None:
        batch: list[_Waiting[Item, Result]] = []
        halves: list[list[_Waiting[Item, Result]]] = []
        try:
            while batch := halves.pop() if halves else self._board():
                try:
                    results = await self._send([each.item for each in batch])
                except CERTAIN as error:
                    if middle := len(batch) // 2:
                        halves += batch[middle:], batch[:middle]
                    else:
                        _fail(batch, error)
                except Exception as error:
                    _fail(batch, error)
                else:
                    for each, result in zip(batch, results, strict=True):
                        if not each.outcome.done():
                            each.outcome.set_result(result)
                await asyncio.sleep(0)  # those that have arrived may come along with their next one
        finally:
            self._driver = None
            _fail(chain(batch, *halves, self._waiting), CLOSED)
            self._waiting.clear()

    def _board(self) -> list[_Waiting[Item, Result]]:
        """Who goes next: as many as fit, without those that have given up."""
        batch: list[_Waiting[Item, Result]] = []
        size = 0
        while self._waiting and len(batch) < MOST_ITEMS:
            size += self._waiting[0].size
            if batch and size > MOST_SIZE:
                break
            waiting = self._waiting.popleft()
            if not waiting.outcome.done():
                batch.append(waiting)
        return batch


def _fail(those: Iterable[_Waiting[Item, Result]], error: Exception) -> None:
    """Give each an error of its own: an exception that several tasks raise collects the traces of all of them."""
    for each in those:
        if not each.outcome.done():
            # A class of a middleware may not be made from its args again.
            own = copy(error) if type(error).__module__ == LeaseholdError.__module__ else error
            own.__cause__ = error.__cause__
            each.outcome.set_exception(own)
