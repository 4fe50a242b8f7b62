"""Writes progress and log lines of all jobs of this worker, in one statement each, twice a second at the most.

It is separate from outcomes, so neither a slow insert nor a refused line delays one. Only the last report of a job that
ends is written by the settler: after the outcome it would be refused.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from uuid import UUID

import msgspec
import trio

from leasehold.actors.attempts.outcome import sanitized
from leasehold.actors.progress.buffer import LONGEST_MESSAGE, BufferedLine, ProgressBuffer, ProgressReport
from leasehold.actors.shared.identity import WorkerIdentity
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable, LeaseholdError

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.5
MOST_LINES = 2_000


class ProgressWriterStatistics(msgspec.Struct, frozen=True):
    """Counts since the start: reports and lines written, lines dropped because too many were waiting, statements."""

    progress: int
    lines: int
    dropped: int
    statements: int


class ProgressWriter:
    """Writes progress and log lines: within half a second, and at once where a job has ended."""

    name = "progress writer"

    def __init__(
        self, caller: Caller, identity: WorkerIdentity, buffer: ProgressBuffer, is_running: Callable[[int], object]
    ) -> None:
        self._caller = caller
        self._identity = identity
        self._buffer = buffer
        self._is_running = is_running
        self._arrived = Signal()
        self._hurried = Signal()
        self._turn = trio.Lock()
        self._wrote_at = float("-inf")
        self._counts = {"progress": 0, "lines": 0, "statements": 0}
        self._dropped_told = 0

    def hurry(self) -> None:
        """Jobs have ended: write what there is now."""
        if not self._buffer.is_empty:
            self._hurried.set()

    async def run(self) -> None:
        """Write until cancelled. Raises DatabaseUnavailable; called again, it goes on where it was."""
        token = trio.lowlevel.current_trio_token()
        while True:
            self._buffer.listen(partial(_set_from_any_thread, token, self._arrived))
            await self._arrived.wait()
            await self._hurried.wait(max(0.0, self._wrote_at + PAUSE_SECONDS - monotonic()))
            await self.write()

    async def write(self) -> None:
        """Write everything that is in the buffer now. Raises DatabaseUnavailable."""
        async with self._turn:
            self._wrote_at = monotonic()
            if self._buffer.has_progress:
                async with self._buffer.write_lock:
                    await self._write_progress(self._buffer.latest())
            while lines := self._buffer.lines(MOST_LINES):
                await self._write_lines(lines)
            self._buffer.forget(self._is_running)
            self._tell_dropped()

    async def _write_progress(self, said: Sequence[ProgressReport]) -> None:
        self._counts["statements"] += 1
        await report_progress(self._caller, self._identity.incarnation, said)
        self._counts["progress"] += len(said)
        self._buffer.written(said)

    async def _write_lines(self, lines: Sequence[BufferedLine]) -> None:
        self._counts["statements"] += 1
        try:
            columns = list(zip(*lines, strict=True))
            await self._caller.call("write_job_logs", *map(list, columns))
            self._counts["lines"] += len(lines)
        except DatabaseUnavailable:
            raise
        except LeaseholdError as error:
            log.warning("%d lines of job logs were refused: %s", len(lines), error)
        self._buffer.written((), len(lines))

    def _tell_dropped(self) -> None:
        dropped = self._buffer.dropped
        if dropped > self._dropped_told:
            log.warning(
                "%d lines of job logs were dropped: too many waited for the database", dropped - self._dropped_told
            )
            self._dropped_told = dropped

    def statistics(self) -> ProgressWriterStatistics:
        """Counts since the start."""
        return ProgressWriterStatistics(**self._counts, dropped=self._buffer.dropped)


async def report_progress(caller: Caller, incarnation: UUID, said: Collection[ProgressReport]) -> None:
    """Write these reports. A lost lease or a refusal by Postgres costs the report only. Raises DatabaseUnavailable."""
    messages = [None if each.message is None else sanitized(str(each.message)[:LONGEST_MESSAGE]) for each in said]
    try:
        await caller.call(
            "report_progress",
            incarnation,
            [each.job_id for each in said],
            [each.attempt for each in said],
            [each.fraction for each in said],
            messages,
        )
    except DatabaseUnavailable:
        raise
    except LeaseholdError as error:
        log.warning("progress was refused: %s", error)


def _set_from_any_thread(token: trio.lowlevel.TrioToken, signal: Signal) -> None:
    with suppress(trio.RunFinishedError):
        token.run_sync_soon(signal.set, idempotent=True)
