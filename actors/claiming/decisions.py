"""What the actors decide, apart from doing it: pure functions and small values, time passed in."""

from __future__ import annotations

import random
from collections.abc import Callable

PREFETCH_SECONDS = 0.05
MOST_PREFETCH = 1000
FIRST_POLL_SECONDS = 0.010
SOONEST_SECONDS = 0.001
STUCK_SECONDS = 0.050


def lease_margin(lease: float) -> float:
    """Seconds before the lease's end at which its owner stops trusting it: a sixth, at most five seconds."""
    return min(5.0, lease / 6)


def claim_size(slots: int, busy: int, backlog: int, rate: float) -> int:
    """How many jobs to claim now; 0 for none.

    Free slots are filled, and beyond them as much is fetched as the worker has lately finished in 50 ms, so that fast
    jobs come in large batches and slow ones are not held back from other workers. A refill smaller than half of that
    waits, unless a slot is idle.
    """
    prefetch = min(MOST_PREFETCH, int(rate * PREFETCH_SECONDS))
    wanted = (slots - busy) + prefetch - backlog
    has_idle_slot = busy + backlog < slots
    return wanted if has_idle_slot or wanted > prefetch // 2 else 0


def wait_until_due(next_due: object, longest: float, *, progress: bool) -> float:
    """Seconds to wait for the next due job (`next_due` seconds away, None: there is none), `longest` at the most.

    A job that is overdue although we have just looked came due since, or is locked by somebody: we look again at once,
    then after as long as it is overdue, so that a locked one is asked for less and less often.
    """
    if not isinstance(next_due, float):
        return longest
    overdue = 0.0 if progress else -next_due
    return min(longest, max(next_due, min(overdue, STUCK_SECONDS), SOONEST_SECONDS))


class Rate:
    """Finished jobs per second, smoothed over about a quarter of a second."""

    def __init__(self, now: float) -> None:
        self._value = 0.0
        self._since = now
        self._count = 0

    def add(self, count: int) -> None:
        """Count finished jobs."""
        self._count += count

    def at(self, now: float) -> float:
        """The rate now. Halves about every quarter of a second without finished jobs."""
        elapsed = now - self._since
        if elapsed >= 0.001:
            weight = min(1.0, elapsed / 0.25) if self._count / elapsed < self._value else 0.5
            self._value += (self._count / elapsed - self._value) * weight
            self._since, self._count = now, 0
        return self._value


class PollDecay:
    """How long to wait before looking again: a few milliseconds after activity, doubling up to the poll interval.

    A wake-up that got lost while we were busy then costs about as long as the transaction that missed us.
    """

    def __init__(self, longest: float, draw: Callable[[], float] = random.random) -> None:
        self._longest = longest
        self._draw = draw
        self._next = FIRST_POLL_SECONDS

    def reset(self) -> None:
        """There was activity."""
        self._next = FIRST_POLL_SECONDS

    def wait(self) -> float:
        """Seconds until the next look; each call without activity doubles it. Jittered by a tenth."""
        current = min(self._next, self._longest)
        self._next = min(self._longest, self._next * 2)
        return current * (0.9 + 0.1 * self._draw())


class Backoff:
    """Full-jitter back-off between restarts: 0.1 s doubling to 5 s, forgotten after half a minute without trouble."""

    def __init__(self, draw: Callable[[], float] = random.random) -> None:
        self._draw = draw
        self._ceiling = 0.1
        self._last = float("-inf")

    def wait(self, now: float) -> float:
        """Seconds to wait before trying again at `now`."""
        if now - self._last > 30.0:
            self._ceiling = 0.1
        self._last = now
        current, self._ceiling = self._ceiling, min(5.0, self._ceiling * 2)
        return current * (0.5 + 0.5 * self._draw())
