"""Jobs claimed and not yet started, between the dispatcher and the slots."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

import trio

from leasehold.actors.attempts.held_job import HeldJob


class Backlog:
    """A line of claimed jobs. Slots take from it without waiting while it has any.

    Once it is closed and empty, every slot ends.
    """

    def __init__(self) -> None:
        self._line: deque[HeldJob] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        self._dismissed = 0
        self.closed = False

    def __len__(self) -> int:
        return len(self._line)

    @property
    def idle_slots(self) -> int:
        """Slots that wait for a job."""
        return len(self._idle)

    @property
    def oldest(self) -> HeldJob | None:
        """The job that has waited longest."""
        return self._line[0] if self._line else None

    def extend(self, jobs: list[HeldJob]) -> None:
        """Append jobs and wake as many idle slots."""
        self._line.extend(jobs)
        self._idle.unpark(count=len(jobs))

    async def take(self) -> HeldJob | None:
        """The next job; None when the backlog is closed and empty, or this slot must end. A checkpoint if it waits."""
        while not self._line:
            if self.closed or self.lets_go():
                return None
            await self._idle.park()
        return self._line.popleft()

    def dismiss(self, slots: int) -> None:
        """Have this many slots end: waiting ones at once, others when they ask `lets_go` or find the line empty."""
        self._dismissed += slots
        self._idle.unpark(count=slots)

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
        self._idle.unpark_all()
