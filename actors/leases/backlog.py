"""Jobs claimed and not yet started, between the dispatcher and the slots, and how many to claim."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

import trio

from leasehold.actors.attempts.held_job import HeldJob

PREFETCH_SECONDS = 0.05
LONGEST_PREFETCH_SECONDS = 1.0
CLAIMS_AHEAD = 3
MOST_PREFETCH = 1000


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


class Backlog:
    """A line of claimed jobs. Slots take from it without waiting while it has any.

    Once it is closed and empty, every slot ends.
    """

    def __init__(self) -> None:
        self._line: deque[HeldJob] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        self._woken = 0
        self._dismissed = 0
        self.closed = False

    def __len__(self) -> int:
        return len(self._line)

    @property
    def idle_slots(self) -> int:
        """Slots that wait for a job, or were woken and have not taken it yet: it is still in the line."""
        return len(self._idle) + self._woken

    @property
    def oldest(self) -> HeldJob | None:
        """The job that has waited longest."""
        return self._line[0] if self._line else None

    def extend(self, jobs: list[HeldJob]) -> None:
        """Append jobs and wake as many idle slots."""
        self._line.extend(jobs)
        self._woken += len(self._idle.unpark(count=len(jobs)))

    async def take(self) -> HeldJob | None:
        """The next job; None when the backlog is closed and empty, or this slot must end. A checkpoint if it waits."""
        while not self._line:
            if self.closed or self.lets_go():
                return None
            await self._idle.park()
            self._woken -= 1
        return self._line.popleft()

    def dismiss(self, slots: int) -> None:
        """Have this many slots end: waiting ones at once, others when they ask `lets_go` or find the line empty."""
        self._dismissed += slots
        self._woken += len(self._idle.unpark(count=slots))

    def recall(self, slots: int) -> int:
        """Keep up to `slots` of the dismissed slots that have not ended yet; returns how many."""
        kept = min(slots, self._dismissed)
        self._dismissed -= kept
        return kept

    def lets_go(self) -> bool:
        """Whether the slot that asks must end. Each True counts as one dismissed slot."""
        if not self._dismissed:
            return False
        self._dismissed -= 1
        return True

    def clear(self) -> list[HeldJob]:
        """Take all of them out."""
        taken = list(self._line)
        self._line.clear()
        return taken

    def take_out(self, queues: Collection[str]) -> list[HeldJob]:
        """Take those of some queues out."""
        line = self.clear()
        self._line.extend(held for held in line if held.row["queue"] not in queues)
        return [held for held in line if held.row["queue"] in queues]

    def close(self) -> None:
        """No more will come."""
        self.closed = True
        self._woken += len(self._idle.unpark_all())
