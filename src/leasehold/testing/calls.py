"""A call of trio code from any test: plain, asyncio or trio."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import outcome
import trio

T = TypeVar("T")


def run_apart(function: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run it under trio in a thread of its own, which knows nothing of the caller's event loop; blocks until it has ended."""
    results: list[outcome.Outcome[T]] = []
    thread = threading.Thread(target=lambda: results.append(outcome.capture(trio.run, function, *args)), daemon=True)
    thread.start()
    thread.join()
    return results[0].unwrap()
