"""What reaper and sweepers share: how long they have had the database without a break, how they tell what they took back,
and what they do where its clock was set back.

Who has only just got the database back cannot tell which workers have died meanwhile.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from leasehold.database import Caller, Row
from leasehold.events import JobReaped
from leasehold.observability.observers import Observers

log = logging.getLogger(__name__)

SLACK_SECONDS = 3.0
"""An answer may come this much later than expected and is no break."""


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


async def follow_clock(caller: Caller, known: timedelta | None) -> timedelta | None:
    """Set the books anew if the clock of the database was set back lately. Returns by how much, to be passed as `known` the
    next time, so that it is logged once. Raises DatabaseUnavailable.
    """
    [[back]] = await caller.call("follow_clock")
    if back is not None and back != known:
        log.warning(
            "the clock of the database was set back by about %s; leases, rates, schedules and counts go on from now",
            timedelta(seconds=round(back.total_seconds())),
        )
    return back


def announce_reaped(rows: Sequence[Row], observers: Observers) -> None:
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
    if JobReaped in observers.subscribed:
        for row in rows:
            observers.emit(JobReaped(**{name: row[name] for name in JobReaped.__struct_fields__}))
