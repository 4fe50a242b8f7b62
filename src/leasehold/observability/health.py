"""The health of a process, and when a line about an outage of its database is due.

The event loop of the process writes its health, and the thread that answers probes reads it. The loop calls `beat` all the time;
an old beat tells the other thread that the loop is blocked. Each write is one assignment of a value that never changes, so no lock
is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Literal

import msgspec

Question = Literal["livez", "readyz", "startupz"]
DATABASE_SECONDS = 15.0

# During an outage the database is asked this often, and each answer may take this long.
PROBE_SECONDS = 1.0
ANSWER_SECONDS = 5.0
REMIND_SECONDS = 60.0


class Verdict(msgspec.Struct, frozen=True):
    """The result of one check. `problem` says what is wrong; None: nothing."""

    name: str
    problem: str | None = None


class Health:
    """What the probes of a process answer.

    Alive: the event loop runs, and no actor is stuck. A lost database does not count, because a restart does not bring
    it back. Ready: it is alive, the database answered when it was last asked, it has started and does not drain.
    Started: every actor has registered and the database has answered once.

    Args:
        stale_seconds: the longest time that the event loop may stand still.
        now: a monotonic clock.

    Attributes:
        stuck: what is wrong with each actor, by name.
        has_started: whether every actor has registered.
        is_draining: whether the process takes no more work.
    """

    def __init__(self, stale_seconds: float, now: Callable[[], float] = monotonic) -> None:
        self._stale_seconds = stale_seconds
        self._now = now
        self._looped_at = now()
        self._answered_at: float | None = None
        self._is_refused = False
        self.stuck: Mapping[str, str | None] = {}
        self.has_started = False
        self.is_draining = False

    def beat(self) -> None:
        """Note that the event loop runs."""
        self._looped_at = self._now()

    def database_answered(self) -> None:
        """The database has answered just now."""
        self._answered_at = self._now()
        self._is_refused = False

    def database_failed(self) -> None:
        """The database has not answered just now."""
        self._is_refused = True

    @property
    def lag(self) -> float:
        """Seconds since the event loop last ran."""
        return self._now() - self._looped_at

    def ask(self, question: Question) -> Sequence[Verdict]:
        """The results of all checks that a probe asks for."""
        match question:
            case "livez":
                return self._life()
            case "readyz":
                return [*self._life(), self._database(), self._start(), self._drain()]
            case "startupz":
                return [self._start()]

    def _life(self) -> list[Verdict]:
        lag = self.lag
        blocked = f"it has not run for {lag:.0f} s; a handler blocks it" if lag > self._stale_seconds else None
        return [Verdict("event loop", blocked), *(Verdict(name, problem) for name, problem in self.stuck.items())]

    def _database(self) -> Verdict:
        if self._answered_at is None:
            return Verdict("database", "it has not answered yet")
        silent = self._now() - self._answered_at
        is_away = self._is_refused or silent > DATABASE_SECONDS
        return Verdict("database", f"no answer for {silent:.0f} s" if is_away else None)

    def _start(self) -> Verdict:
        started = self.has_started and self._answered_at is not None
        return Verdict("start", None if started else "not registered yet")

    def _drain(self) -> Verdict:
        return Verdict("draining", "it takes no more work" if self.is_draining else None)


class OutageReminder:
    """Knows which lines about an outage were written, and which one is due. `now` is in seconds, on any clock that goes forward.

    An outage has a line when it begins, one for each further minute, and one when it is over. If it begins within a minute of the
    last line, its first line comes when that minute has passed. So a part of a process that fails again and again, although the
    database answers, writes two lines a minute at most. Nothing here waits, asks or logs.

    Attributes:
        was_logged: whether a line about this outage was written. Only then its end has a line as well.
    """

    def __init__(self) -> None:
        self._since = 0.0
        self._logged_at = float("-inf")
        self.was_logged = False

    def begin(self, now: float) -> None:
        """An outage begins."""
        self._since, self.was_logged = now, False

    def due(self, now: float) -> Literal["began", "lasts"] | None:
        """The line that is due now, if any. It counts as written then."""
        if now - self._logged_at < REMIND_SECONDS:
            return None
        line = "lasts" if self.was_logged else "began"
        self._logged_at, self.was_logged = now, True
        return line

    def seconds(self, now: float) -> float:
        """How long the outage has lasted."""
        return now - self._since
