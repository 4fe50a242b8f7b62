"""Takes back jobs whose leases ran out, where no reaper does: every worker looks now and then, and they take turns."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from leasehold.concurrency.signal import Signal
from leasehold.database import Caller, Row
from leasehold.events import JobReaped
from leasehold.observability.observers import Observers

log = logging.getLogger(__name__)

SLACK_SECONDS = 3.0
"""An answer may come this much later than expected and is no break."""
BATCH = 100
LEAST_SHARE = 0.75
BUSY_TIMES = 4
ASKED_TIMES = 1.5  # the dispatcher is polling, and asks the next time before this is over


def elapsed() -> float:
    """Seconds on a clock that goes on while the machine is suspended, where the system has one."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Attendance:
    """Counts from the first answer after a break. A break is a lost database, or an answer that came late: then the
    database, the network or this process stood still.
    """

    def __init__(self, clock: Callable[[], float] = elapsed) -> None:
        self._clock = clock
        self._since: float | None = None
        self._due = 0.0

    def begin(self) -> None:
        """Start again: the database was lost, or was not asked yet."""
        self._since = None

    def seen(self, next_in: float = 0.0) -> None:
        """The database has answered. It is asked again in `next_in` seconds."""
        now = self._clock()
        if self._since is None or now > self._due:
            self._since = now
        self._due = now + next_in + SLACK_SECONDS

    def expect(self, next_in: float) -> None:
        """Nothing was heard; the database is asked again in `next_in` seconds. Nothing changes after a break."""
        now = self._clock()
        if self._since is not None and now <= self._due:
            self._due = now + next_in + SLACK_SECONDS

    def span(self) -> timedelta:
        """How long the database has answered without a break; zero after a break."""
        now = self._clock()
        return timedelta() if self._since is None or now > self._due else timedelta(seconds=now - self._since)


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
            tell_reaped(rows, self._observers)
            count = len(rows)
            taken += count
        return taken


def tell_reaped(rows: Sequence[Row], observers: Observers) -> None:
    """Log the jobs that `reap_jobs` has taken back, and tell the observers."""
    for row in rows:
        log.warning(
            "took back job %s: the lease of attempt %s on worker %s ran out; now %s",
            row["job_id"],
            row["attempt"],
            row["worker_id"],
            row["state"],
            extra={"job_id": row["job_id"], "attempt": row["attempt"], "worker_id": row["worker_id"]},
        )
    if JobReaped in observers.heard:
        for row in rows:
            observers.emit(JobReaped(**{name: row[name] for name in JobReaped.__struct_fields__}))
