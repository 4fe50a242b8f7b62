"""Takes back jobs whose lease or deadline ran out, frees jobs that wait for nothing, and raises old jobs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from leasehold.actors.upkeep.reaping import Attendance, announce_reaped, follow_clock
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller, Row
from leasehold.notify.channel import Reap
from leasehold.notify.switchboard import Switchboard
from leasehold.observability.observers import Observers

log = logging.getLogger(__name__)

BATCH = 1000
SLICE = 100
OVERLAP = timedelta(seconds=15)
"""How long a transaction that enqueues may take and still be looked at in the round after its commit."""
SOONEST_SECONDS = 0.02
STUCK_SECONDS = 1.0
"""Between two looks where what has run out cannot be taken back."""


class Sweep:
    """Finds one kind of stranded jobs. A round costs the same, however many jobs wait for a good reason.

    The first round looks at all jobs. Each later one looks at what came since the last, and at a slice of the others.

    Args:
        connection: to the database.
        function: the SQL function that looks at some and says where to go on.
        is_over: ends a round early.
    """

    def __init__(self, connection: Caller, function: str, is_over: Callable[[], bool]) -> None:
        self._connection = connection
        self._function = function
        self._is_over = is_over
        self._since: datetime | None = None
        self._place: tuple[datetime | None, int | None] = None, None

    async def round(self, now: datetime) -> int:
        """How many were found. `now` is the database's time at the start. Raises DatabaseUnavailable."""
        found = await self._look_from(self._since and min(self._since, now - OVERLAP))
        if self._since is not None and not self._is_over():
            number, self._place = await self._look(self._place, SLICE)
            found += number
        self._since = now - OVERLAP
        return found

    async def _look_from(self, since: datetime | None) -> int:
        found, place = 0, (since, None)
        while not self._is_over():
            number, place = await self._look(place, BATCH)
            found += number
            if place[1] is None:
                break
        return found

    async def _look(
        self, place: tuple[datetime | None, int | None], batch: int
    ) -> tuple[int, tuple[datetime | None, int | None]]:
        (row,) = await self._connection.call(self._function, *place, batch)
        return row["found"], (row["last_run_at"], row["last_id"])


class ReaperStatistics(msgspec.Struct, frozen=True):
    """Counts since the start.

    Attributes:
        reaped, expired: jobs taken back, and failed at their deadline.
        promoted, unblocked: jobs that waited, or were blocked, for nothing.
        aged: jobs raised for their age.
        sessions_ended: sessions that held the row of a job.
    """

    reaped: int
    expired: int
    promoted: int
    unblocked: int
    aged: int
    rounds: int
    sessions_ended: int


class Reaper:
    """Looks when the earliest lease runs out, when told to, and at least every poll interval.

    Each round tells the database how long the reaper has been connected. Right after an outage it takes jobs back as at
    any other time, but blames nobody: it cannot know who died.

    If a session holds the row of a job whose lease has run out, the reaper logs which one it is. It ends the session
    when the lease has been over for `session_grace` seconds (0: never).
    """

    name = "reaper"

    def __init__(
        self,
        connection: Caller,
        switchboard: Switchboard,
        poll_seconds: float,
        observers: Observers | None = None,
        session_grace: float = 5.0,
    ) -> None:
        self._grace = timedelta(seconds=session_grace) if session_grace else None
        self._logged: set[tuple[int, int | None, str | None]] = set()
        self._set_back: timedelta | None = None
        self._connection = connection
        self._observers = observers or Observers()
        self._poll_seconds = poll_seconds
        self._attendance = Attendance()
        self._signal = Signal()
        self._draining = False
        self._waiting = Sweep(connection, "promote_stranded_jobs", lambda: self._draining)
        self._blocked = Sweep(connection, "unblock_stranded_jobs", lambda: self._draining)
        self._counts = dict.fromkeys(ReaperStatistics.__struct_fields__, 0)
        switchboard.subscribe(Reap, lambda _: self._signal.set())
        switchboard.subscribe_reconnect(self._signal.set)

    def drain(self) -> None:
        """End after the present round."""
        self._draining = True
        self._signal.set()

    def database_lost(self) -> None:
        """An actor of this process has lost the database, perhaps while the reaper waits and does not notice."""
        self._attendance.begin()

    async def run(self) -> None:
        """Reap until drained. Raises DatabaseUnavailable."""
        self._attendance.begin()
        while not self._draining:
            before = self._counts["reaped"] + self._counts["expired"]
            await self.reap()
            [[expiry]] = await self._ask("next_expiry_in")
            wait = min(self._poll_seconds, expiry if isinstance(expiry, float) else self._poll_seconds)
            soonest = SOONEST_SECONDS
            if expiry == 0.0 and self._counts["reaped"] + self._counts["expired"] == before:
                soonest = SOONEST_SECONDS if await self.free_rows() else STUCK_SECONDS
            elif expiry != 0.0:
                self._logged.clear()
            self._attendance.seen(max(wait, soonest))
            await self._signal.wait(max(wait, soonest))

    async def _ask(self, function: str, *args: object) -> list[Row]:
        rows = await self._connection.call(function, *args)
        self._attendance.seen()
        return rows

    async def reap(self) -> None:
        """Do one round. Raises DatabaseUnavailable."""
        self._counts["rounds"] += 1
        while True:
            rows = await self._ask("reap_jobs", BATCH, None, self._attendance.span())
            self._counts["reaped"] += len(rows)
            announce_reaped(rows, self._observers)
            if len(rows) < BATCH:
                break
        self._set_back = await follow_clock(self._connection, self._set_back)
        self._attendance.seen()
        await self._count("expired", "expire_jobs")
        await self._count("aged", "age_jobs")
        [[now]] = await self._ask("clock")
        assert isinstance(now, datetime)
        self._counts["promoted"] += await self._waiting.round(now)
        self._attendance.seen()
        self._counts["unblocked"] += await self._blocked.round(now)
        self._attendance.seen()

    async def free_rows(self) -> bool:
        """Log the sessions that hold rows of jobs whose lease has run out, and end those that do so for too long.

        Returns whether one was ended. Raises DatabaseUnavailable.
        """
        rows = await self._ask("stop_lost_sessions", self._grace)
        ended = {row["pid"] for row in rows if row["is_ended"]}
        for row in rows:
            line = (row["job_id"], row["pid"], row["problem"])
            if row["is_ended"]:
                log.warning("%s; that session was ended", row["explanation"], extra={"job_id": row["job_id"]})
            elif line not in self._logged:
                self._logged.add(line)
                level = logging.WARNING if row["problem"] is None else logging.ERROR
                log.log(level, "%s", row["explanation"] + (f"; {row['problem']}" if row["problem"] else ""))
        self._counts["sessions_ended"] += len(ended)
        return bool(ended)

    async def _count(self, what: str, function: str) -> None:
        [[number]] = await self._ask(function)
        self._counts[what] += number if isinstance(number, int) else 0

    def statistics(self) -> ReaperStatistics:
        """Counts since the start."""
        return ReaperStatistics(**self._counts)
