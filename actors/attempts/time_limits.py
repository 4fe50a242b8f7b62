"""How long a running handler has: its timeout, which counts while it runs, and its deadline, which is a point in time."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Any

import trio

TOO_LATE = {
    "type": "DeadlineExceeded",
    "message": "the deadline of the job passed before its handler began",
    "traceback": "",
}
DEADLINE_PASSED = {
    "type": "DeadlineExceeded",
    "message": "the deadline of the job passed while its handler ran",
    "traceback": "",
}


class RunClock:
    """Ends a cancel scope at the earlier of the two. Made only for jobs that have one of them.

    Args:
        scope: of the handler, on trio's clock.
        timeout: seconds that the handler may run; None: any.
        deadline: on the monotonic clock; None: none.
    """

    def __init__(self, scope: trio.CancelScope, timeout: float | None, deadline: float | None) -> None:
        self._scope = scope
        self._timeout = timeout
        self._left = inf if timeout is None else timeout
        self._offset = trio.current_time() - monotonic()
        self._deadline = inf if deadline is None else deadline + self._offset
        self._timed_out_at = inf
        self.start()

    def start(self) -> None:
        """The handler runs."""
        self._timed_out_at = trio.current_time() + self._left
        self._scope.deadline = min(self._timed_out_at, self._deadline)

    def stop(self) -> None:
        """The handler waits for a place to run: that is not held against its timeout, but the deadline is what it is."""
        self._left = self._timed_out_at - trio.current_time()
        self._timed_out_at = inf
        self._scope.deadline = self._deadline

    @property
    def expired(self) -> str | None:
        """Which of them is over now: `deadline`, `timeout` or None. In any thread."""
        now = monotonic() + self._offset
        if now >= self._deadline:
            return "deadline"
        return "timeout" if now >= self._timed_out_at else None

    def missed(self) -> dict[str, Any] | None:
        """What is told of a handler that comes back now by itself, if that is after the deadline."""
        return DEADLINE_PASSED if self.expired == "deadline" else None

    def error(self) -> tuple[dict[str, Any], bool]:
        """What is told of the handler that was cancelled, and whether that is the end of the job."""
        # The scope may have been late by what the event loop was late, never early; so what came first is meant.
        if self._deadline <= self._timed_out_at:
            return DEADLINE_PASSED, True
        message = f"the handler was cancelled after its timeout of {self._timeout} s"
        return {"type": "TimedOut", "message": message, "traceback": ""}, False
