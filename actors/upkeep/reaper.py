"""Takes back what ran out: expired leases and deadlines, and jobs left waiting or blocked behind nobody; ages the others."""

from __future__ import annotations

import msgspec

from leasehold.actors.leases.sweeper import tell_reaped
from leasehold.actors.shared.attendance import Attendance
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller, Row
from leasehold.notify.channel import Reap
from leasehold.notify.switchboard import Switchboard
from leasehold.observability.observers import Observers

BATCH = 1000
SOONEST_SECONDS = 0.02


class ReaperStatistics(msgspec.Struct, frozen=True):
    """Jobs taken back, failed at their deadline, promoted or unblocked that were stranded, raised for their age; rounds."""

    reaped: int
    expired: int
    promoted: int
    unblocked: int
    aged: int
    rounds: int


class Reaper:
    """Looks when the earliest lease runs out, when told to, and at least every poll interval.

    It says with each round for how long it has had the database: right after an outage it takes jobs back like at any
    other time, and blames nobody.
    """

    name = "reaper"

    def __init__(
        self, connection: Caller, switchboard: Switchboard, poll_seconds: float, observers: Observers | None = None
    ) -> None:
        self._connection = connection
        self._observers = observers or Observers()
        self._poll_seconds = poll_seconds
        self._attendance = Attendance()
        self._signal = Signal()
        self._draining = False
        self._counts = dict.fromkeys(ReaperStatistics.__struct_fields__, 0)
        switchboard.subscribe(Reap, lambda _: self._signal.set())
        switchboard.subscribe_reconnect(self._signal.set)

    def drain(self) -> None:
        """End after the present round."""
        self._draining = True
        self._signal.set()

    async def run(self) -> None:
        """Reap until drained. Raises DatabaseUnavailable."""
        self._attendance.begin()
        while not self._draining:
            await self.reap()
            [[expiry]] = await self._ask("next_expiry_in")
            wait = min(self._poll_seconds, expiry if isinstance(expiry, float) else self._poll_seconds)
            self._attendance.seen(max(wait, SOONEST_SECONDS))
            await self._signal.wait(max(wait, SOONEST_SECONDS))

    async def _ask(self, function: str, *args: object) -> list[Row]:
        rows = await self._connection.call(function, *args)
        self._attendance.seen()
        return rows

    async def reap(self) -> None:
        """One round."""
        self._counts["rounds"] += 1
        while True:
            rows = await self._ask("reap_jobs", BATCH, None, self._attendance.span())
            self._counts["reaped"] += len(rows)
            tell_reaped(rows, self._observers)
            if len(rows) < BATCH:
                break
        await self._count("expired", "expire_jobs")
        await self._count("promoted", "promote_stranded_jobs")
        await self._count("aged", "age_jobs")
        await self._unblock()

    async def _count(self, what: str, function: str) -> None:
        [[number]] = await self._ask(function)
        self._counts[what] += number if isinstance(number, int) else 0

    async def _unblock(self) -> None:
        """Go round all blocked jobs, some at a time."""
        last_id: int | None = 0
        while last_id is not None and not self._draining:
            (row,) = await self._ask("unblock_stranded_jobs", last_id, BATCH)
            self._counts["unblocked"] += row["found"]
            last_id = row["last_id"]

    def statistics(self) -> ReaperStatistics:
        """Counts since the start."""
        return ReaperStatistics(**self._counts)
