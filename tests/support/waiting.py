"""Waiting for something to become true, in the one way that the tests do it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from leasehold.errors import DatabaseUnavailable

T = TypeVar("T")

PAUSE_SECONDS = 0.01


async def eventually(probe: Callable[[], T | Awaitable[T]], timeout: float = 10.0, *, pause: float = PAUSE_SECONDS) -> T:
    """The first true answer of `probe`; fails after `timeout` seconds. A database that is away is asked again."""
    answer: object = None
    with trio.move_on_after(timeout):
        while True:
            try:
                found = probe()
                answer = await found if isinstance(found, Awaitable) else found
            except DatabaseUnavailable as error:
                answer = error
            else:
                if answer:
                    return answer  # pyright: ignore[reportReturnType, reportUnknownVariableType]
            await trio.sleep(pause)
    raise AssertionError(f"not within {timeout} s; the last answer was {answer!r}")
