"""Takes back jobs whose leases ran out, where no reaper does: every worker looks now and then, and they take turns."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from datetime import timedelta

import trio

from leasehold.actors.shared.attendance import Attendance
from leasehold.database import Caller, Row
from leasehold.events import JobReaped
from leasehold.observability.observers import Observers

log = logging.getLogger(__name__)

BATCH = 100
LEAST_SHARE = 0.75
BUSY_TIMES = 4


class LeaseSweeper:
    """Looks about once in a poll interval, a quarter as often while every slot is busy.

    The fleet as a whole looks once in three quarters of a poll interval, however many workers it has, and not at all
    where a reaper runs. So a fleet of workers alone takes back the jobs of a dead one within a lease and a poll
    interval, as long as one of them is idle.

    Args:
        caller: the database.
        poll_seconds: how often to look.
        is_idle: whether a slot of this worker has nothing to do.
        observers: told of each job that was taken back.
        draw: the jitter, from 0 to 1.
    """

    name = "lease sweeper"

    def __init__(
        self,
        caller: Caller,
        poll_seconds: float,
        is_idle: Callable[[], bool],
        observers: Observers,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._caller = caller
        self._poll_seconds = poll_seconds
        self._is_idle = is_idle
        self._observers = observers
        self._draw = draw
        self._attendance = Attendance()

    async def run(self) -> None:
        """Look now and then until cancelled. Raises DatabaseUnavailable."""
        self._attendance.begin()
        while True:
            wait = self._poll_seconds * (LEAST_SHARE + (1 - LEAST_SHARE) * self._draw())
            wait *= 1 if self._is_idle() else BUSY_TIMES
            self._attendance.seen(wait)
            await trio.sleep(wait)
            await self.sweep()

    async def sweep(self) -> int:
        """Take back jobs whose leases ran out, if it is our turn. Returns how many. Raises DatabaseUnavailable."""
        every = timedelta(seconds=LEAST_SHARE * self._poll_seconds)
        if not await self._caller.call_value("take_reap_turn", every):
            return 0
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
