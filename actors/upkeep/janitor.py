"""Makes the partitions of the days to come and drops those that are older than what is kept."""

from __future__ import annotations

import logging

from leasehold.concurrency.signal import Signal
from leasehold.database import Caller

log = logging.getLogger(__name__)

ROUND_SECONDS = 3600.0
DAYS_AHEAD = 7
PATIENCE_SECONDS = 60.0


class Janitor:
    """A round at the start and every hour."""

    name = "janitor"

    def __init__(self, connection: Caller, keep_days: int) -> None:
        self._connection = connection
        self._keep_days = keep_days
        self._signal = Signal()
        self._draining = False

    def drain(self) -> None:
        """End after the present round."""
        self._draining = True
        self._signal.set()

    async def run(self) -> None:
        """Keep house until drained. Raises DatabaseUnavailable."""
        while not self._draining:
            made = await self._connection.call_value("ensure_partitions", DAYS_AHEAD, timeout=PATIENCE_SECONDS)
            dropped = await self._connection.call_value(
                "drop_old_partitions", self._keep_days, timeout=PATIENCE_SECONDS
            )
            await self._connection.call_value("drop_full_buckets", timeout=PATIENCE_SECONDS)
            while await self._connection.call_value("drop_old_ticks", self._keep_days, timeout=PATIENCE_SECONDS):
                pass
            if made or dropped:
                log.info("made %s partitions, dropped %s", made, dropped)
            await self._signal.wait(ROUND_SECONDS)
