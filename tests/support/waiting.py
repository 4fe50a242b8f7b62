"""Waiting for something to become true, in the one way that the tests do it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from leasehold.errors import DatabaseUnavailable

T = TypeVar("T")

PAUSE_SECONDS = 0.01
LONGEST_PAUSE_SECONDS = 0.1
STRETCH = float(os.environ.get("LEASEHOLD_TEST_PATIENCE") or "1")
PATIENCE = 60.0 * STRETCH
"""Seconds, of every wait of every test: far more than it needs on a busy machine; only one that fails waits for so long."""


async def eventually(probe: Callable[[], Awaitable[T | None]], timeout: float = PATIENCE) -> T:
    """The first true answer of `probe`; fails after `timeout` seconds. A database that is away is asked again.

    Who waits for long asks less often: a pause is a tenth of what it has waited so far. Others need the processor.
    """
    last: object = None
    pause = PAUSE_SECONDS
    with trio.move_on_after(timeout):
        while True:
            try:
                answer = last = await probe()
                if answer:
                    return answer
            except DatabaseUnavailable as error:
                last = error
            await trio.sleep(pause)
            pause = min(pause * 1.1, LONGEST_PAUSE_SECONDS)
    raise AssertionError(f"not within {timeout} s; the last answer was {last!r}")


async def until(condition: Callable[[], bool], timeout: float = PATIENCE) -> None:
    """Return when `condition` holds; fails after `timeout` seconds."""

    async def probe() -> bool:
        return condition()

    await eventually(probe, timeout)
