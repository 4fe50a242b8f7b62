"""Decides when a line about an outage of the database is due. Time is passed in: nothing here waits, asks or logs.

An outage has a line when it begins, one for each further minute, and one when it is over. If it begins within a minute
of the last line, its first line comes when that minute has passed. So a part of a process that fails again and again,
although the database answers, writes two lines a minute at most.
"""

from __future__ import annotations

from typing import Literal

# During an outage the database is asked this often, and each answer may take this long.
PROBE_SECONDS = 1.0
ANSWER_SECONDS = 5.0
REMIND_SECONDS = 60.0


class OutageReminder:
    """Knows which lines were written, and which one is due. `now` is in seconds, on any clock that goes forward."""

    def __init__(self) -> None:
        self._since = 0.0
        self._said_at = float("-inf")
        self._was_said = False

    def begin(self, now: float) -> None:
        """An outage begins."""
        self._since, self._was_said = now, False

    def due(self, now: float) -> Literal["began", "lasts"] | None:
        """The line that is due now, if any. It counts as written then."""
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
        """Whether a line about this outage was written. Only then its end has a line as well."""
        return self._was_said
