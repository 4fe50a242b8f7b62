"""Takes back what ran out: expired leases and deadlines, and jobs left waiting or blocked behind nobody; ages the others."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import msgspec

from leasehold.actors.upkeep.sweep import Sweep
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.events import JobReaped
from leasehold.notify.channel import Reap
from leasehold.notify.switchboard import Switchboard
from leasehold.observability.observers import Observers

log = logging.getLogger(__name__)

BATCH = 1000
SOONEST_SECONDS = 0.02
STUCK_SECONDS = 1.0
"""Between two looks where what has run out cannot be taken back."""


class ReaperStatistics(msgspec.Struct, frozen=True):
    """Jobs taken back, failed at their deadline, promoted or unblocked that were stranded, raised for their age; rounds; sessions
    ended that kept it from a job."""

    reaped: int
    expired: int
    promoted: int
    unblocked: int
    aged: int
    rounds: int
    sessions_ended: int


class Reaper:
    """Looks when the earliest lease runs out, when told to, and at least every poll interval.

    Where a session holds the row of a job whose lease has run out, it names the session in the log, and ends it when the
    lease has been over for `session_grace` seconds (0: never).
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
        self._told: set[tuple[int, int | None, str | None]] = set()
        self._connection = connection
        self._observers = observers or Observers()
        self._poll_seconds = poll_seconds
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

    async def run(self) -> None:
        """Reap until drained. Raises DatabaseUnavailable."""
        while not self._draining:
            before = self._counts["reaped"] + self._counts["expired"]
            await self.reap()
            expiry = await self._connection.call_value("next_expiry_in")
            wait = min(self._poll_seconds, expiry if isinstance(expiry, float) else self._poll_seconds)
            soonest = SOONEST_SECONDS
            if expiry == 0.0 and self._counts["reaped"] + self._counts["expired"] == before:
                soonest = SOONEST_SECONDS if await self.free_rows() else STUCK_SECONDS
            elif expiry != 0.0:
                self._told.clear()
            await self._signal.wait(max(wait, soonest))

    async def reap(self) -> None:
        """One round."""
        self._counts["rounds"] += 1
        while True:
            rows = await self._connection.call("reap_jobs", BATCH)
            self._counts["reaped"] += len(rows)
            for row in rows:
                log.warning(
                    "took back job %s: the lease of attempt %s on worker %s ran out; now %s",
                    row["job_id"],
                    row["attempt"],
                    row["worker_id"],
                    row["state"],
                    extra={"job_id": row["job_id"], "attempt": row["attempt"], "worker_id": row["worker_id"]},
                )
            if JobReaped in self._observers.heard:
                for row in rows:
                    self._observers.emit(JobReaped(**{name: row[name] for name in JobReaped.__struct_fields__}))
            if len(rows) < BATCH:
                break
        await self._count("expired", "expire_jobs")
        await self._count("aged", "age_jobs")
        now = await self._connection.call_value("clock")
        assert isinstance(now, datetime)
        self._counts["promoted"] += await self._waiting.round(now)
        self._counts["unblocked"] += await self._blocked.round(now)

    async def free_rows(self) -> bool:
        """Tell of the sessions that hold rows of jobs whose lease has run out, and end those that do so for too long; whether
        one was ended."""
        rows = await self._connection.call("stop_lost_sessions", self._grace)
        ended = {row["pid"] for row in rows if row["is_ended"]}
        for row in rows:
            told = (row["job_id"], row["pid"], row["problem"])
            if row["is_ended"]:
                log.warning("%s; that session was ended", row["explanation"], extra={"job_id": row["job_id"]})
            elif told not in self._told:
                self._told.add(told)
                level = logging.WARNING if row["problem"] is None else logging.ERROR
                log.log(level, "%s", row["explanation"] + (f"; {row['problem']}" if row["problem"] else ""))
        self._counts["sessions_ended"] += len(ended)
        return bool(ended)

    async def _count(self, what: str, function: str) -> None:
        number = await self._connection.call_value(function)
        self._counts[what] += number if isinstance(number, int) else 0

    def statistics(self) -> ReaperStatistics:
        """Counts since the start."""
        return ReaperStatistics(**self._counts)
