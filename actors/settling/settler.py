"""Writes outcomes: many at a time, sorted, guarded; an outcome counts when its commit has been acknowledged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice

import msgspec
import trio

from leasehold.actors.attempts.announcer import SILENT, Announcer
from leasehold.actors.attempts.held_job import Holdings, drop
from leasehold.actors.attempts.outcome import Outcome
from leasehold.actors.progress.buffer import ProgressBuffer
from leasehold.actors.settling.settlement import Settlement
from leasehold.actors.shared.identity import WorkerIdentity
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller

GATHER_SECONDS = 0.002
MOST_ROWS = 500
MOST_WAITING = 5_000


class SettlerStatistics(msgspec.Struct, frozen=True):
    """Counts since the start: settled outcomes by what they were, refused ones, statements sent; and outcomes waiting.

    Attributes:
        completed: also those that continue their chain, and those whose handler committed them.
        returned: rescheduled, blocked and released.
        repeated: written again after a lost reply, and found to have been heard the first time.
    """

    completed: int
    failed: int
    returned: int
    refused: int
    repeated: int
    statements: int
    waiting: int


class Settler:
    """Takes outcomes from the slots and writes them over its own connection.

    After a lost connection the same outcomes are written again: an attempt that has been settled already is not refused.
    """

    name = "settler"

    def __init__(
        self,
        connection: Caller,
        identity: WorkerIdentity,
        holdings: Holdings,
        settled: Callable[[int], object],
        announcer: Announcer = SILENT,
        buffer: ProgressBuffer | None = None,
        suspect_ended: Callable[[], object] = bool,
    ) -> None:
        self._settlement = Settlement(connection, identity, announcer, buffer or ProgressBuffer())
        self._holdings = holdings
        self._settled = settled
        self._suspect_ended = suspect_ended
        self._waiting: deque[Outcome] = deque()
        self._arrived = Signal()
        self._room = trio.Event()
        self._room.set()
        self._wrote = trio.Event()

    def put(self, outcome: Outcome) -> None:
        """Take an outcome. Never waits; callers that may wait ask `room` first."""
        outcome.held.settling = True
        self._waiting.append(outcome)
        if len(self._waiting) == 1:
            self._arrived.set()
        elif len(self._waiting) > MOST_WAITING and self._room.is_set():
            self._room = trio.Event()

    @property
    def is_crowded(self) -> bool:
        """Whether slots should wait with `room` before they take the next job."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Wait while too many outcomes are unwritten."""
        await self._room.wait()

    async def warm_up(self) -> None:
        """Connect and have the commonest statement planned. Raises DatabaseUnavailable."""
        await self._settlement.warm_up()

    async def run(self) -> None:
        """Write outcomes until cancelled. Raises DatabaseUnavailable; called again, it goes on where it was."""
        while True:
            if not self._waiting:
                await self._arrived.wait()
            if len(self._waiting) < MOST_ROWS:
                await trio.sleep(GATHER_SECONDS)
            await self.flush()

    async def written(self) -> None:
        """Wait until every outcome taken so far is written."""
        while self._waiting:
            self._arrived.set()
            await self._wrote.wait()

    async def flush(self) -> None:
        """Write what is waiting now."""
        while self._waiting:
            batch = list(islice(self._waiting, MOST_ROWS))
            await self._settlement.write(batch)
            for _ in batch:
                self._waiting.popleft()
            for outcome in batch:
                drop(self._holdings, outcome.held)
            self._settled(len(batch))
            if any(outcome.held.is_suspect for outcome in batch):
                self._suspect_ended()
            self._wrote.set()
            self._wrote = trio.Event()
            if not self._room.is_set() and len(self._waiting) < MOST_WAITING // 2:
                self._room.set()
            if len(self._waiting) < MOST_ROWS // 2:
                break

    def statistics(self) -> SettlerStatistics:
        """Counts since the start."""
        return SettlerStatistics(**self._settlement.counts, waiting=len(self._waiting))
