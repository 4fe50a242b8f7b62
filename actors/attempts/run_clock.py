"""The limits of a handler: its timeout, and the deadline of its job."""

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
    """Cancels a handler at its timeout or its deadline, whichever comes first. Only jobs with one of them have a clock.

    Args:
        scope: of the handler, on trio's clock.
        timeout: seconds that the handler may run; None: no limit.
        deadline: seconds on the monotonic clock; None: no limit.
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
        """Count the timeout: the handler runs."""
        self._timed_out_at = trio.current_time() + self._left
        self._scope.deadline = min(self._timed_out_at, self._deadline)

    def stop(self) -> None:
        """Stop the timeout while the handler waits for a process. The deadline stays."""
        self._left = self._timed_out_at - trio.current_time()
        self._timed_out_at = inf
        self._scope.deadline = self._deadline

    @property
    def expired(self) -> str | None:
        """Which limit has passed: `deadline`, `timeout` or None. Any thread may ask."""
        now = monotonic() + self._offset
        if now >= self._deadline:
            return "deadline"
        return "timeout" if now >= self._timed_out_at else None

    def missed(self) -> dict[str, Any] | None:
        """The error of a handler that returns by itself after the deadline; None before the deadline."""
        return DEADLINE_PASSED if self.expired == "deadline" else None

    def error(self) -> tuple[dict[str, Any], bool]:
        """The error of a handler that this clock has cancelled, and whether the job fails for good."""
        # A busy event loop cancels the scope late, never early. So the earlier of the two limits is the cause.
        if self._deadline <= self._timed_out_at:
            return DEADLINE_PASSED, True
        message = f"the handler was cancelled after its timeout of {self._timeout} s"
        return {"type": "TimedOut", "message": message, "traceback": ""}, False
