"""Outcomes that could not be written because another session holds what they need: each has a next try of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import msgspec

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.attempts.outcome import Outcome

FIRST_SECONDS = 0.02
LONGEST_SECONDS = 5.0
LATE_AFTER = 1.0


class Leftover(msgspec.Struct, eq=False):
    """One outcome. Times are seconds on the monotonic clock.

    Attributes:
        due: when it is tried again.
        wait: how long it waits before the try after that; doubles.
        since: when it was left over for the first time.
        is_told: whether it was logged.
    """

    outcome: Outcome
    due: float
    wait: float
    since: float
    is_told: bool = False


class Leftovers:
    """All leftovers of one worker. `now` is in seconds on the monotonic clock."""

    def __init__(self) -> None:
        self._all: dict[HeldJob, Leftover] = {}

    def __len__(self) -> int:
        return len(self._all)

    def job_ids(self) -> list[int]:
        """Of all jobs whose outcomes are left over, ascending."""
        return sorted(held.id for held in self._all)

    def keep(self, outcome: Outcome, now: float) -> None:
        """It could not be written at `now`: try it again after a wait that doubles, up to five seconds."""
        kept = self._all.get(outcome.held)
        if kept is None:
            self._all[outcome.held] = Leftover(outcome, now + FIRST_SECONDS, 2 * FIRST_SECONDS, now)
        else:
            kept.due, kept.wait = now + kept.wait, min(LONGEST_SECONDS, 2 * kept.wait)

    def forget(self, tried: Sequence[Outcome], left: Sequence[Outcome]) -> None:
        """Forget the outcomes in `tried` that are not in `left`: they are written."""
        still = {outcome.held for outcome in left}
        for outcome in tried:
            if outcome.held not in still:
                self._all.pop(outcome.held, None)

    def due(self, now: float) -> list[Outcome]:
        """Those to try now, the longest due first."""
        ready = sorted((each for each in self._all.values() if each.due <= now), key=lambda each: each.due)
        return [each.outcome for each in ready]

    def due_in(self, now: float) -> float:
        """Seconds until the next is due; infinite where there is none."""
        return max(0.0, min((each.due for each in self._all.values()), default=inf) - now)

    def hurry(self, now: float) -> None:
        """Try all of them now, and often from now on: the worker ends soon."""
        for each in self._all.values():
            each.due, each.wait = now, FIRST_SECONDS

    def late(self, now: float) -> int:
        """How many have been left over for a second or longer."""
        return sum(now - each.since >= LATE_AFTER for each in self._all.values())

    def untold(self, now: float) -> list[int]:
        """The jobs to log now, each once: their outcomes have been left over for a second or longer."""
        found = [each for each in self._all.values() if not each.is_told and now - each.since >= LATE_AFTER]
        for each in found:
            each.is_told = True
        return sorted(each.outcome.held.id for each in found)
