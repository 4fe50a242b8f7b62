"""Notices that the database has begun a new epoch: after a failover or a restore it knows nothing of what it forgot.

Every connection of the process is greeted: it tells the epoch that it leads to. One that leads to another epoch than the
process is in cannot be used before the process has turned to the new one, and neither can those opened before it. A
process without a worker holds nothing, and turns at once.
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


class EpochWatch:
    """In which epoch the process is, and whether the database has come to another one.

    It belongs to the trio thread; the lease keeper, in a thread of its own, greets through `in_thread`.

    Attributes:
        epoch: that the process is in; None before the first connection.
        position: how far the database had come when it was last asked in this epoch.
        noticed: set when there may be another epoch to turn to.
        is_over: whether that has been noticed and not been seen to.
    """

    name = "epochs"

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.position: int | None = None
        self.noticed = Signal()
        self.is_over = False
        self._generation = 0
        self._next: int | None = None
        self._holds_jobs = False

    @property
    def generation(self) -> int:
        """Changes when connections that were greeted before must not be used any more. Read in any thread."""
        return self._generation

    def wait_for_turn(self) -> None:
        """Somebody waits for `noticed`, and calls `turned` when the process holds nothing of the former epoch."""
        self._holds_jobs = True

    async def greet(self, connection: Caller) -> None:
        """Ask a new connection. Raises EpochOver, and DatabaseUnavailable where it leads to a standby."""
        await self.ask(connection, self.notice)

    async def ask(self, caller: Caller, notice: Callable[[int], object]) -> None:
        """Ask in which epoch the database is; `notice` is called with another one than ours. Raises as `greet`."""
        try:
            rows = await caller.call("find_epoch", self.epoch, self.position)
        except SchemaMismatch:
            return  # an older schema, or none yet
        if not rows:
            raise DatabaseUnavailable("this server is a standby, which can only be read")
        found: int = rows[0]["epoch"]
        if self.epoch is None:
            self.epoch = found
        if self.epoch != found:
            notice(found)
            if self.epoch != found:
                raise EpochOver
        if rows[0]["position"] is not None:
            self.position = max(self.position or 0, rows[0]["position"])

    def notice(self, found: int) -> None:
        """The database is in this epoch, and we are in another one."""
        if not self._holds_jobs:
            log.warning("the database has failed over or was restored: it has begun epoch %d", found)
            self.turned(found)
        elif found != self._next:
            self._next = found
            self.suspect()

    @contextmanager
    def suspecting(self) -> Generator[None]:
        """Around a statement that names our epoch: look for another one where it is refused."""
        try:
            yield
        except EpochOver:
            self.suspect()
            raise

    def suspect(self) -> None:
        """The database has refused a statement of ours for the sake of its epoch."""
        self.is_over = True
        self._generation += 1
        self.noticed.set()

    def turned(self, epoch: int) -> None:
        """The process is in this epoch from now on."""
        if epoch != self.epoch:
            self.position = None
        self.epoch, self._next, self.is_over = epoch, None, False
        self._generation += 1

    def in_thread(self, portal: trio.lowlevel.TrioToken) -> ThreadGreeter:
        """What greets connections in another thread."""
        return ThreadGreeter(self, portal)


class ThreadGreeter:
    """Greets connections of another thread, which only reads what the watch knows."""

    def __init__(self, watch: EpochWatch, portal: trio.lowlevel.TrioToken) -> None:
        self._watch = watch
        self._portal = portal

    @property
    def generation(self) -> int:
        """As that of the watch."""
        return self._watch.generation

    async def greet(self, connection: Caller) -> None:
        """As that of the watch."""
        await self._watch.ask(connection, lambda found: self._portal.run_sync_soon(self._watch.notice, found))


class EpochLooker:
    """Looks for a new epoch now and then, for processes whose connections a pooler keeps."""

    name = "epochs"

    def __init__(self, watch: EpochWatch, database: Caller) -> None:
        self._watch = watch
        self._database = database

    async def run(self) -> None:
        """Look every ten seconds until cancelled. Raises DatabaseUnavailable."""
        while True:
            await self._watch.ask(self._database, self._watch.notice)
            await trio.sleep(LOOK_SECONDS)
