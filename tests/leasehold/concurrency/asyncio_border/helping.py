"""What tests of the border share."""

from __future__ import annotations

import contextvars
from collections.abc import Generator
from contextlib import contextmanager

import trio
import trio.testing

from tests.support.waiting import PATIENCE

word: contextvars.ContextVar[str] = contextvars.ContextVar("word", default="nothing")


@contextmanager
def in_time() -> Generator[None]:
    """A wake-up that is lost fails the test, and does not hang it."""
    with trio.fail_after(PATIENCE):
        yield


async def answer() -> int:
    return 42


async def cancel_when_all_wait(scope: trio.CancelScope) -> None:
    await trio.testing.wait_all_tasks_blocked()
    scope.cancel()
