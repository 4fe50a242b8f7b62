"""Keeps the books: what happened in each minute of each queue, and how many jobs there are where counting takes long.

The figures are derived afterwards from the jobs themselves, so that no job waits for them. Any number of accountants
may run, and one works at a time: the functions take an advisory lock or do nothing.
"""

from __future__ import annotations

import logging

import msgspec

from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable, LeaseholdError

log = logging.getLogger(__name__)

ROUND_SECONDS = 10.0
ROUNDS_BETWEEN_MERGES = 360
PATIENCE_SECONDS = 900.0  # the first round may have a day to catch up with


class AccountantStatistics(msgspec.Struct, frozen=True):
    """Minutes written, rounds in which another accountant was at work, failed rounds, and all rounds."""

    minutes: int
    busy: int
    failed: int
    rounds: int


class Accountant:
    """A round every ten seconds. A round that fails is logged and made again: nothing but figures depends on it."""

    name = "accountant"

    def __init__(self, connection: Caller, keep_days: int) -> None:
        self._connection = connection
        self._keep_days = max(2, keep_days)
        self._signal = Signal()
        self._draining = False
        self._counts = dict.fromkeys(AccountantStatistics.__struct_fields__, 0)

    def drain(self) -> None:
        """End after the present round."""
        self._draining = True
        self._signal.set()

    async def run(self) -> None:
        """Keep the books until drained. Raises DatabaseUnavailable."""
        while not self._draining:
            try:
                await self.keep()
            except DatabaseUnavailable:
                raise
            except LeaseholdError as error:
                self._counts["failed"] += 1
                log.warning("the books could not be kept, again in %.0f s: %s", ROUND_SECONDS, error)
            await self._signal.wait(ROUND_SECONDS)

    async def keep(self) -> None:
        """Do one round. Raises DatabaseUnavailable."""
        self._counts["rounds"] += 1
        minutes = await self._connection.call_value("close_minutes", timeout=PATIENCE_SECONDS)
        self._counts["minutes" if isinstance(minutes, int) else "busy"] += minutes if isinstance(minutes, int) else 1
        await self._connection.call_value("measure_depths", timeout=PATIENCE_SECONDS)
        if self._counts["rounds"] % ROUNDS_BETWEEN_MERGES == 1:
            await self._connection.call_value("drop_old_rollups", self._keep_days, timeout=PATIENCE_SECONDS)
        await self._connection.call_value("measure_finished", timeout=PATIENCE_SECONDS)

    def statistics(self) -> AccountantStatistics:
        """Counts since the start."""
        return AccountantStatistics(**self._counts)
