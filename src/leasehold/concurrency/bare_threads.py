"""Threads for processes that may have no memory left.

`threading.Thread.start` waits until the new thread says that it runs. A thread that dies before, because there is no memory for
its first object, never says so, and whoever started it waits for ever.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable


def start_bare(function: Callable[..., object], *args: object) -> None:
    """Run a function in a new daemon thread, and wait for nothing.

    Raises:
        RuntimeError: no thread can be started.
    """
    _thread.start_new_thread(function, args)
