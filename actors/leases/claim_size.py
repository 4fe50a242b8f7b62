"""How many jobs to claim: for the free slots, and a little ahead of them."""

from __future__ import annotations

PREFETCH_SECONDS = 0.05
LONGEST_PREFETCH_SECONDS = 1.0
CLAIMS_AHEAD = 3
MOST_PREFETCH = 1000
SLOW_SECONDS = 0.05


def prefetch_seconds(claim_seconds: float) -> float:
    """How many seconds of work to fetch ahead: 50 ms, or three times the last claim if it was slow, at most a second.

    The next claim begins when half of it is left. If that half were shorter than a claim, the slots would run dry at
    each claim. Then the rate of finished jobs would fall, and each batch would be smaller than the last.
    """
    return min(LONGEST_PREFETCH_SECONDS, max(PREFETCH_SECONDS, CLAIMS_AHEAD * claim_seconds))


def claim_size(slots: int, busy: int, backlog: int, rate: float, claim_seconds: float = 0.0) -> int:
    """How many jobs to claim now; 0 for none.

    A claim fills the free slots. Beyond them it fetches as many jobs as the worker has lately finished in
    `prefetch_seconds`: fast jobs come in large batches, and slow ones are left to other workers. A refill smaller than
    half of that waits, unless a slot is idle.
    """
    prefetch = min(MOST_PREFETCH, int(rate * prefetch_seconds(claim_seconds)))
    wanted = (slots - busy) + prefetch - backlog
    has_idle_slot = busy + backlog < slots
    return wanted if has_idle_slot or wanted > prefetch // 2 else 0


class Rate:
    """Finished jobs per second, smoothed over about a quarter of a second.

    Jobs as many as the slots may end at once, whatever they took, so a short time says something about their speed only
    where more than two for each slot have ended in it.
    """

    def __init__(self, now: float) -> None:
        self._value = 0.0
        self._since = now
        self._count = 0

    def add(self, count: int) -> None:
        """Count finished jobs."""
        self._count += count

    def at(self, now: float, slots: int) -> float:
        """The rate now, of so many slots. Halves about every quarter of a second without finished jobs."""
        elapsed = now - self._since
        are_fast = self._count > 2 * slots
        if elapsed >= (0.001 if are_fast else SLOW_SECONDS):
            is_rising = self._count / elapsed >= self._value
            weight = 0.5 if is_rising and are_fast else min(1.0, elapsed / 0.25)
            self._value += (self._count / elapsed - self._value) * weight
            self._since, self._count = now, 0
        return self._value
