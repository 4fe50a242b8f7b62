"""How long actors wait before they look again: pure functions and small values, time passed in."""

from __future__ import annotations

import random
from collections.abc import Callable

FIRST_POLL_SECONDS = 0.020
LONGER = 4
SOONEST_SECONDS = 0.001
STUCK_SECONDS = 0.050
MOST_POLLERS = 32


def wait_until_due(next_due: object, longest: float, *, progress: bool) -> float:
    """Seconds to wait for the next due job (`next_due` seconds away, None: there is none), `longest` at the most.

    `progress`: the last look has found something. If it has found nothing, an overdue job has come due since, or
    another session has locked it. Then the wait is as long as the job is overdue, from 1 ms to 50 ms, so that we look
    less and less often for a locked one.
    """
    if not isinstance(next_due, float):
        return longest
    overdue = 0.0 if progress else -next_due
    return min(longest, max(next_due, min(overdue, STUCK_SECONDS), SOONEST_SECONDS))


def poll_of_each(poll: float, workers: int, heartbeat: float) -> float:
    """Seconds between the polls of each of so many idle workers. Together they poll no more often than 32, as long as
    each does so just before its heartbeat is due, which then rides along."""
    return max(poll, min(poll * workers / MOST_POLLERS, 0.9 * heartbeat))


class PollDecay:
    """How long to wait before looking again: some milliseconds after activity, four times as long after each look, up to the
    poll interval.

    So a job whose wake-up was lost while we were busy waits a few times as long as the transaction that enqueued it took, and
    a worker with fifteen jobs a second polls once for each.

    Attributes:
        longest: the poll interval.
    """

    def __init__(self, longest: float, draw: Callable[[], float] = random.random) -> None:
        self.longest = longest
        self._draw = draw
        self._next = FIRST_POLL_SECONDS

    def reset(self, *, later: bool = False) -> None:
        """There was activity. `later`: leave out the first look."""
        self._next = FIRST_POLL_SECONDS * (LONGER if later else 1)

    def wait(self) -> float:
        """Seconds until the next look; each call without activity makes it four times as long. Jittered by a tenth, at the end
        by a fiftieth: polls that come too soon are statements for nothing, and a fiftieth of each poll scatters a fleet as well.
        """
        current = min(self._next, self.longest)
        jitter = 0.1 if current < self.longest else 0.02
        self._next = min(self.longest, self._next * LONGER)
        return current * (1 - jitter + jitter * self._draw())
