"""The janitor makes the partitions of the next days and removes what is old; the accountant keeps the books.

What happened in each minute of each queue, and how many jobs there are where counting takes long, is derived afterwards from
the jobs themselves, so that no job waits for it. Any number of accountants may run, and one works at a time: the functions
take an advisory lock or do nothing.
"""

from __future__ import annotations

import logging

from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable, LeaseholdError, PayloadError
from leasehold.payloads.archive import Archive, delete_old_payloads
from leasehold.payloads.stores import BlobStore

log = logging.getLogger(__name__)

ROUND_SECONDS = 3600.0
DAYS_AHEAD = 7
PATIENCE_SECONDS = 60.0
LOOK_THROUGH_SECONDS = 900.0  # at a default partition of any size
BOOKS_SECONDS = 10.0
ROUNDS_BETWEEN_MERGES = 360
BOOKS_PATIENCE_SECONDS = 900.0  # the first round may have a day to catch up with


class Janitor:
    """A round at the start and every hour, in many short transactions; a drain ends it after the present one."""

    name = "janitor"

    def __init__(
        self, connection: Caller, keep_days: int, store: BlobStore | None = None, keep_payloads: int = 30
    ) -> None:
        self._connection = connection
        self._keep_days = keep_days
        self._archive = None if store is None else Archive(connection, store)
        self._keep_payloads = keep_payloads
        self._signal = Signal()
        self._draining = False

    def drain(self) -> None:
        """End after the present transaction."""
        self._draining = True
        self._signal.set()

    async def run(self) -> None:
        """Work until drained. Raises DatabaseUnavailable."""
        while not self._draining:
            made = await self._make_partitions()
            dropped = await self._repeat("drop_old_partitions", self._keep_days)
            if made or dropped:
                log.info("made %s partitions, dropped %s", made, dropped)
            await self._connection.call_value("drop_full_buckets", timeout=PATIENCE_SECONDS)
            await self._repeat("drop_old_ticks", self._keep_days)
            await self._repeat("drop_old_rows", self._keep_days)
            await self._drop_rows_of_old_jobs()
            await self._delete_old_payloads()
            await self._signal.wait(ROUND_SECONDS)

    async def _make_partitions(self) -> int:
        """One a transaction. A drain, too, takes the guards away, which must not outlast the day."""
        guards = await self._repeat("guard_default_partitions", DAYS_AHEAD, timeout=LOOK_THROUGH_SECONDS)
        made = await self._repeat("ensure_partitions", DAYS_AHEAD, self._keep_days, 1)
        if guards:
            await self._connection.call_value("guard_default_partitions", 0, timeout=PATIENCE_SECONDS)
        return made

    async def _repeat(self, function: str, *args: int, timeout: float = PATIENCE_SECONDS) -> int:
        """Call it until it does nothing more; the sum of what it did."""
        total = 0
        while not self._draining:
            number = await self._connection.call_value(function, *args, timeout=timeout)
            if not isinstance(number, int) or number == 0:
                break
            total += number
        return total

    async def _drop_rows_of_old_jobs(self) -> None:
        last_id: int | None = 0
        while last_id is not None and not self._draining:
            (row,) = await self._connection.call(
                "drop_rows_of_old_jobs", self._keep_days, last_id, timeout=PATIENCE_SECONDS
            )
            last_id = row["last_id"]

    async def _delete_old_payloads(self) -> None:
        total = 0
        try:
            while self._archive is not None and not self._draining:
                deleted = await delete_old_payloads(self._archive, self._keep_payloads, self._keep_days)
                if deleted == 0:
                    break
                total += deleted
        except PayloadError as error:
            log.warning("old payloads are deleted in the next round: %s", error)
        if total:
            log.info("deleted %s payloads", total)


class Accountant:
    """A round every ten seconds. A round that fails is logged and made again: nothing but figures depends on it."""

    name = "accountant"

    def __init__(self, connection: Caller, keep_days: int) -> None:
        self._connection = connection
        self._keep_days = max(2, keep_days)
        self._signal = Signal()
        self._draining = False
        self._rounds = 0

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
                log.warning("the books could not be kept, again in %.0f s: %s", BOOKS_SECONDS, error)
            await self._signal.wait(BOOKS_SECONDS)

    async def keep(self) -> None:
        """Do one round. Raises DatabaseUnavailable."""
        self._rounds += 1
        await self._connection.call_value("close_minutes", timeout=BOOKS_PATIENCE_SECONDS)
        await self._connection.call_value("measure_depths", timeout=BOOKS_PATIENCE_SECONDS)
        if self._rounds % ROUNDS_BETWEEN_MERGES == 1:
            await self._connection.call_value("drop_old_rollups", self._keep_days, timeout=BOOKS_PATIENCE_SECONDS)
        await self._connection.call_value("measure_finished", timeout=BOOKS_PATIENCE_SECONDS)
