"""Jobs claimed and not yet started, between the dispatcher and the slots."""

from __future__ import annotations

from collections import deque

import trio

from leasehold.actors.held import Held


class Backlog:
    """A line that slots take from without waiting while there is something in it.

    Closing it sends every slot home once the line is empty.
    """

    def __init__(self) -> None:
        self._line: deque[Held] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        self.closed = False

    def __len__(self) -> int:
        return len(self._line)

    @property
    def idle_slots(self) -> int:
        """Slots that wait for a job."""
        return len(self._idle)

    @property
    def oldest(self) -> Held | None:
        """The job that has waited longest."""
        return self._line[0] if self._line else None

    def extend(self, jobs: list[Held]) -> None:
        """Append jobs and wake as many idle slots."""
        self._line.extend(jobs)
        self._idle.unpark(count=len(jobs))

    async def take(self) -> Held | None:
        """The next job; None when the backlog is closed and empty. A checkpoint only when it has to wait."""
        while not self._line:
            if self.closed:
                return None
            await self._idle.park()
        return self._line.popleft()

    def clear(self) -> list[Held]:
        """Take all of them out."""
        taken = list(self._line)
        self._line.clear()
        return taken

    def close(self) -> None:
        """No more will come."""
        self.closed = True
        self._idle.unpark_all()
