"""When to say what about an outage of the database. Time is passed in: nothing here waits, asks or logs.

An outage has a line when it begins, one for each further minute, and one when it is over. If it begins within a minute of
the last line, nothing is said of it until that minute has passed. So a part of a process that fails again and again beside a
database that answers writes two lines a minute at most.
"""

from __future__ import annotations

from typing import Literal

# Who watches an outage asks the database this often, and waits this long for the answer.
PROBE_SECONDS = 1.0
ANSWER_SECONDS = 5.0
REMIND_SECONDS = 60.0


class OutageReminder:
    """What has been said about outages, and what is to be said now. `now` is in seconds, on any clock that goes forward."""

    def __init__(self) -> None:
        self._since = 0.0
        self._said_at = float("-inf")
        self._was_said = False

    def begin(self, now: float) -> None:
        """An outage begins."""
        self._since, self._was_said = now, False

    def due(self, now: float) -> Literal["began", "lasts"] | None:
        """Which line is to be said now, if any; it then counts as said."""
        if now - self._said_at < REMIND_SECONDS:
            return None
        line = "lasts" if self._was_said else "began"
        self._said_at, self._was_said = now, True
        return line

    def seconds(self, now: float) -> float:
        """How long the outage has lasted."""
        return now - self._since

    @property
    def was_said(self) -> bool:
        """Whether anybody has read of this outage, so that its end is worth a line."""
        return self._was_said
