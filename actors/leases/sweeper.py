"""Takes back jobs whose leases ran out, where no reaper does: every worker looks now and then, and they take turns."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

from leasehold.actors.upkeep.reaping import Attendance, announce_reaped, follow_clock
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.observability.observers import Observers

BATCH = 100
LEAST_SHARE = 0.75
BUSY_TIMES = 4
ASKED_TIMES = 1.5  # the dispatcher is polling, and asks the next time before this is over


class LeaseSweeper:
    """Looks about once in a poll interval, a quarter as often while every slot is busy.

    The fleet as a whole looks once in three quarters of a poll interval, however many workers it has, and not at all
    where a reaper runs. So a fleet of workers alone takes back the jobs of a dead one within a lease and a poll
    interval, as long as one of them is idle. A worker that polls for jobs asks for its turn in the same statement.

    Attributes:
        every: how often the fleet looks.

    Args:
        caller: the database.
        poll_seconds: how often to look.
        is_idle: whether a slot of this worker has nothing to do.
        observers: told of each job that was taken back.
        draw: the jitter, from 0 to 1.
        attendance: how long it has had the database.
    """

    name = "lease sweeper"

    def __init__(
        self,
        caller: Caller,
        poll_seconds: float,
        is_idle: Callable[[], bool],
        observers: Observers,
        draw: Callable[[], float] = random.random,
        attendance: Attendance | None = None,
    ) -> None:
        self._caller = caller
        self._poll_seconds = poll_seconds
        self._is_idle = is_idle
        self._observers = observers
        self._draw = draw
        self._attendance = attendance or Attendance()
        self._asked, self._is_ours = Signal(), False
        self._set_back: timedelta | None = None
        self.every = timedelta(seconds=LEAST_SHARE * poll_seconds)

    def turn(self, is_ours: bool) -> None:
        """The dispatcher has asked whose turn it is: look now or not, and ask again when it has not for long."""
        self._attendance.seen()
        self._is_ours = is_ours
        self._asked.set()

    def database_lost(self) -> None:
        """An actor of this process has lost the database, perhaps while the sweeper waits and does not notice."""
        self._attendance.begin()

    async def run(self) -> None:
        """Look now and then until cancelled. Raises DatabaseUnavailable."""
        self._attendance.begin()
        is_asked = False
        while True:
            wait = self._poll_seconds * (LEAST_SHARE + (1 - LEAST_SHARE) * self._draw())
            wait *= 1 if self._is_idle() else BUSY_TIMES
            wait *= ASKED_TIMES if is_asked else 1
            self._attendance.expect(wait)
            is_asked = await self._asked.wait(wait)
            if not is_asked:
                await self.sweep()
            elif self._is_ours:
                await self.reap()

    async def sweep(self) -> int:
        """Take back jobs whose leases ran out, if it is our turn. Returns how many. Raises DatabaseUnavailable."""
        is_ours = await self._caller.call_value("take_reap_turn", self.every)
        self._attendance.seen()
        return await self.reap() if is_ours else 0

    async def reap(self) -> int:
        """Take back jobs whose leases ran out. Returns how many. Raises DatabaseUnavailable."""
        self._is_ours = False
        taken, count = 0, BATCH
        while count == BATCH:
            rows = await self._caller.call("reap_jobs", BATCH, None, self._attendance.span())
            self._attendance.seen()
            announce_reaped(rows, self._observers)
            count = len(rows)
            taken += count
        self._set_back = await follow_clock(self._caller, self._set_back)
        self._attendance.seen()
        return taken
