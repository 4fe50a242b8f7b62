"""Takes back what ran out: expired leases, and jobs left waiting behind nobody."""

from __future__ import annotations

import logging

import msgspec

from leasehold.database import Caller
from leasehold.notify.channel import Reap
from leasehold.notify.signal import Signal
from leasehold.notify.switchboard import Switchboard

log = logging.getLogger("leasehold.reaper")

BATCH = 1000
SOONEST_SECONDS = 0.02


class ReaperStatistics(msgspec.Struct, frozen=True):
    """Jobs taken back, jobs promoted that were stranded behind a key, and rounds."""

    reaped: int
    promoted: int
    rounds: int


class Reaper:
    """Looks when the earliest lease runs out, when told to, and at least every poll interval."""

    name = "reaper"

    def __init__(self, lane: Caller, switchboard: Switchboard, poll_seconds: float) -> None:
        self._lane = lane
        self._poll_seconds = poll_seconds
        self._signal = Signal()
        self._draining = False
        self._counts = {"reaped": 0, "promoted": 0, "rounds": 0}
        switchboard.subscribe(Reap, lambda _: self._signal.set())
        switchboard.subscribe_reconnect(self._signal.set)

    def drain(self) -> None:
        """End after the present round."""
        self._draining = True
        self._signal.set()

    async def run(self) -> None:
        """Reap until drained. Raises DatabaseUnavailable."""
        while not self._draining:
            await self.reap()
            expiry = await self._lane.call_value("next_expiry_in")
            wait = min(self._poll_seconds, expiry if isinstance(expiry, float) else self._poll_seconds)
            await self._signal.wait(max(wait, SOONEST_SECONDS))

    async def reap(self) -> None:
        """One round."""
        self._counts["rounds"] += 1
        while True:
            rows = await self._lane.call("reap_jobs", BATCH)
            self._counts["reaped"] += len(rows)
            for row in rows:
                log.warning(
                    "took back job %s: the lease of attempt %s on worker %s ran out; now %s",
                    row["job_id"], row["attempt"], row["worker_id"], row["state"],
                    extra={"job_id": row["job_id"], "attempt": row["attempt"], "worker_id": row["worker_id"]},
                )  # fmt: skip
            if len(rows) < BATCH:
                break
        promoted = await self._lane.call_value("promote_stranded_jobs")
        self._counts["promoted"] += promoted if isinstance(promoted, int) else 0

    def statistics(self) -> ReaperStatistics:
        """Counts since the start."""
        return ReaperStatistics(**self._counts)
