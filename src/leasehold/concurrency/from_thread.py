"""From a thread into the trio loop that started it. trio is loaded when the first thread asks, so a program that only enqueues
needs none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


def run_in_loop(function: Callable[..., Awaitable[T]], *args: Any) -> T:
    """What the async function returns, in the loop of this thread. Raises RuntimeError where the thread has none."""
    import trio  # noqa: PLC0415  as the module says

    return trio.from_thread.run(function, *args)


def check_cancelled() -> None:
    """Raise `trio.Cancelled` where the task that waits for this thread was cancelled; RuntimeError where there is none."""
    import trio  # noqa: PLC0415  as the module says

    trio.from_thread.check_cancelled()
