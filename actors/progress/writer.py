"""Writes the journal: progress and log lines of all jobs of this worker in one statement each, twice a second at the most.

It has no part in outcomes, so that neither a slow insert nor a refused line ever holds one up. Only the last word of a job
that ends goes with its outcome, which would otherwise come first and have it refused.
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
from leasehold.actors.progress.buffer import LONGEST_MESSAGE, Journal, Line, Said
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable, LeaseholdError

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.5
MOST_LINES = 2_000


class ScribeStatistics(msgspec.Struct, frozen=True):
    """Counts since the start: words and lines written, lines dropped because too many were waiting, statements."""

    progress: int
    lines: int
    dropped: int
    statements: int


class Scribe:
    """Writes what handlers say: soon where it has been silent, at once where a job has ended."""

    name = "scribe"

    def __init__(
        self, caller: Caller, incarnation: UUID, journal: Journal, is_running: Callable[[int], object]
    ) -> None:
        self._caller = caller
        self._incarnation = incarnation
        self._journal = journal
        self._is_running = is_running
        self._arrived = Signal()
        self._hurried = Signal()
        self._turn = trio.Lock()
        self._wrote_at = float("-inf")
        self._counts = {"progress": 0, "lines": 0, "statements": 0}
        self._dropped_told = 0

    def hurry(self) -> None:
        """Jobs have ended: write what there is now."""
        if not self._journal.is_empty:
            self._hurried.set()

    async def run(self) -> None:
        """Write until cancelled. Raises DatabaseUnavailable; called again, it goes on where it was."""
        token = trio.lowlevel.current_trio_token()
        while True:
            self._journal.listen(partial(_set_from_any_thread, token, self._arrived))
            await self._arrived.wait()
            await self._hurried.wait(max(0.0, self._wrote_at + PAUSE_SECONDS - monotonic()))
            await self.write()

    async def write(self) -> None:
        """Write everything that is in the journal now. Raises DatabaseUnavailable."""
        async with self._turn:
            self._wrote_at = monotonic()
            if self._journal.has_words:
                async with self._journal.turn:
                    await self._write_progress(self._journal.said())
            while lines := self._journal.lines(MOST_LINES):
                await self._write_lines(lines)
            self._journal.forget(self._is_running)
            self._tell_dropped()

    async def _write_progress(self, said: Sequence[Said]) -> None:
        self._counts["statements"] += 1
        await report_progress(self._caller, self._incarnation, said)
        self._counts["progress"] += len(said)
        self._journal.written(said)

    async def _write_lines(self, lines: Sequence[Line]) -> None:
        self._counts["statements"] += 1
        try:
            columns = list(zip(*lines, strict=True))
            await self._caller.call("write_job_logs", *map(list, columns))
            self._counts["lines"] += len(lines)
        except DatabaseUnavailable:
            raise
        except LeaseholdError as error:
            log.warning("%d lines of job logs were refused: %s", len(lines), error)
        self._journal.written((), len(lines))

    def _tell_dropped(self) -> None:
        dropped = self._journal.dropped
        if dropped > self._dropped_told:
            log.warning(
                "%d lines of job logs were dropped: too many waited for the database", dropped - self._dropped_told
            )
            self._dropped_told = dropped

    def statistics(self) -> ScribeStatistics:
        """Counts since the start."""
        return ScribeStatistics(**self._counts, dropped=self._journal.dropped)


async def report_progress(caller: Caller, incarnation: UUID, said: Collection[Said]) -> None:
    """Write these words; a lost lease or a refusal of Postgres costs the word and nothing else. Raises DatabaseUnavailable."""
    messages = [None if each.message is None else sanitized(str(each.message)[:LONGEST_MESSAGE]) for each in said]
    try:
        await caller.call(
            "report_progress", incarnation, [each.job_id for each in said], [each.attempt for each in said],
            [each.fraction for each in said], messages,
        )  # fmt: skip
    except DatabaseUnavailable:
        raise
    except LeaseholdError as error:
        log.warning("progress was refused: %s", error)


def _set_from_any_thread(token: trio.lowlevel.TrioToken, signal: Signal) -> None:
    with suppress(trio.RunFinishedError):
        token.run_sync_soon(signal.set, idempotent=True)
