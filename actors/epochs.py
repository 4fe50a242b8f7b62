"""Notices that the database has begun a new epoch, after a failover or a restore that may have lost the last commits.

Every new connection of the process is greeted: it is asked for the epoch of its server. If that is another epoch than
the process's, neither this connection nor the older ones can be used until the process has moved to the new epoch. A
process without a worker holds no jobs, and moves at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager

import trio

from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable, EpochOver, SchemaMismatch

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
STANDBY = "this server is a standby, which can only be read"


class EpochWatch:
    """Knows the epoch of the process, and whether the database is in another one.

    It belongs to the trio thread; the lease keeper, in a thread of its own, greets through `in_thread`.

    Attributes:
        epoch: the epoch of the process; None before the first connection.
        position: the last known position of the database in this epoch.
        noticed: set when there may be another epoch to move to.
        is_over: whether this epoch may be over, and the process has not moved yet.
        asked_at: when the database last told its epoch, in the time of trio.
        rides_by: until when a poll of an idle worker is to ask.
        generation: changes when connections that were greeted before must not be used any more. Read in any thread.
    """

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.position: int | None = None
        self.noticed = Signal()
        self.is_over = False
        self.generation = 0
        self._next: int | None = None
        self._holds_jobs = False
        self.asked_at = self.rides_by = float("-inf")

    def wait_for_change(self) -> None:
        """Note that a worker waits for `noticed`. It calls `begin` when it holds nothing of the former epoch."""
        self._holds_jobs = True

    async def greet(self, connection: Caller) -> None:
        """Ask a new connection for its epoch. Raises EpochOver, and DatabaseUnavailable where it leads to a standby."""
        await self.ask(connection, self.notice)

    async def ask(self, caller: Caller, notice: Callable[[int], object]) -> None:
        """Ask the database for its epoch. If that is not ours, `notice` is called with it. Raises as `greet`."""
        try:
            rows = await caller.call("find_epoch", self.epoch, self.position)
        except SchemaMismatch:
            return  # an older schema, or none yet
        if not rows:
            raise DatabaseUnavailable(STANDBY)
        self.found(rows[0]["epoch"], rows[0]["position"], notice)

    def found(self, found: int, position: int | None, notice: Callable[[int], object]) -> None:
        """The database is in this epoch. If that is not ours, `notice` is called with it. Raises EpochOver if it stays so."""
        if self.epoch is None:
            self.epoch = found
        if self.epoch != found:
            notice(found)
            if self.epoch != found:
                raise EpochOver
        if position is not None:
            self.position = max(self.position or 0, position)

    def notice(self, found: int) -> None:
        """Note that the database is in this epoch, and the process in another one."""
        if not self._holds_jobs:
            log.warning("the database has failed over or was restored: it has begun epoch %d", found)
            self.begin(found)
        elif found != self._next:
            self._next = found
            self.suspect()

    @contextmanager
    def suspecting(self) -> Generator[None]:
        """For a statement that names our epoch: if it raises EpochOver, note that the epoch may be over."""
        try:
            yield
        except EpochOver:
            self.suspect()
            raise

    def suspect(self) -> None:
        """Note that the epoch may be over: the database has refused a statement because of it."""
        self.is_over = True
        self.generation += 1
        self.noticed.set()

    def begin(self, epoch: int) -> None:
        """The process is in this epoch from now on."""
        if epoch != self.epoch:
            self.position = None
        self.epoch, self._next, self.is_over = epoch, None, False
        self.generation += 1

    def in_thread(self, portal: trio.lowlevel.TrioToken) -> ThreadGreeter:
        """A greeter for the connections of another thread. `portal` leads back to the thread of this watch."""
        return ThreadGreeter(self, portal)


class ThreadGreeter:
    """Greets connections of another thread, which only reads what the watch knows."""

    def __init__(self, watch: EpochWatch, portal: trio.lowlevel.TrioToken) -> None:
        self._watch = watch
        self._portal = portal

    @property
    def generation(self) -> int:
        """The generation of the watch."""
        return self._watch.generation

    async def greet(self, connection: Caller) -> None:
        """Ask a new connection for its epoch. Raises as `EpochWatch.greet`."""
        await self._watch.ask(connection, lambda found: self._portal.run_sync_soon(self._watch.notice, found))


class EpochLooker:
    """Looks for a new epoch every ten seconds: a pooler can keep the connections of a process open over a failover.

    Where an idle worker has asked on its polls, it need not.
    """

    name = "epochs"

    def __init__(self, watch: EpochWatch, database: Caller) -> None:
        self._watch = watch
        self._database = database

    async def run(self) -> None:
        """Look until cancelled. Raises DatabaseUnavailable."""
        self._watch.asked_at = self._watch.rides_by = float("-inf")
        while True:
            rest = max(self._watch.asked_at + LOOK_SECONDS, self._watch.rides_by) - trio.current_time()
            if rest > 0:
                await trio.sleep(rest)
            else:
                await self._watch.greet(self._database)
                self._watch.asked_at = trio.current_time()
