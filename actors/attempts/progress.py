"""Progress and log lines of running handlers: kept in a buffer, written in one statement each, twice a second at the most.

Any thread may fill the buffer, and never waits. Lines that do not fit in are counted, and the job's log says how many are
missing. Writing is separate from outcomes, so neither a slow insert nor a refused line delays one. Only the last report of
a job that ends is written by the settler: after the outcome it would be refused.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter
from time import monotonic
from typing import NamedTuple
from uuid import UUID

import msgspec
import trio

from leasehold.actors.attempts.outcome import sanitized
from leasehold.actors.identity import WorkerIdentity
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable, LeaseholdError

log = logging.getLogger(__name__)

_job_id = attrgetter("job_id")
MOST_LINES = 10_000
MOST_CHARACTERS = 8_000_000
MOST_OF_A_JOB = 1_001
"""The database keeps a thousand lines; one more tells it that there are more."""
LONGEST_LINE = 4_000
LONGEST_MESSAGE = 1_000
TICK = timedelta(microseconds=1)
Attempt = tuple[int, int]
"""Job id and attempt."""
PAUSE_SECONDS = 0.5
LINES_PER_STATEMENT = 2_000


class ProgressReport(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """How far an attempt has come. A process of handlers writes it as MessagePack."""

    job_id: int
    attempt: int
    fraction: float | None
    message: str | None


class BufferedLine(NamedTuple):
    """One line of a job's log, by the worker's clock."""

    job_id: int
    attempt: int
    at: datetime
    level: str
    message: str


class ProgressBuffer:
    """The latest report of each job, and the log lines of all jobs in order.

    `wake` is called, in whatever thread, when the first thing comes in after `listen`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.write_lock = trio.Lock()
        """Held while reports are taken and sent, so that of two reports the later one is written last."""
        self._reports: dict[int, ProgressReport] = {}
        self._lines: deque[BufferedLine] = deque()
        self._characters = 0
        self._counts: dict[Attempt, int] = {}
        self._dropped: dict[Attempt, int] = {}
        self._last_at = datetime.min.replace(tzinfo=UTC)
        self._wake: Callable[[], object] | None = None
        self.dropped = 0

    def progress(self, job_id: int, attempt: int, fraction: float | None, message: str | None = None) -> None:
        """Note how far an attempt has come; only the latest report is written."""
        report = ProgressReport(job_id, attempt, None if fraction is None else float(fraction), message)
        with self._lock:
            self._reports[job_id] = report
        self._wake_writer()

    def line(self, job_id: int, attempt: int, level: str, message: str) -> None:
        """Append a line to the log of a job."""
        text = sanitized(message[:LONGEST_LINE])
        key = (job_id, attempt)
        with self._lock:
            count = self._counts[key] = self._counts.get(key, 0) + 1
            if count > MOST_OF_A_JOB:
                return
            if len(self._lines) >= MOST_LINES or self._characters + len(text) > MOST_CHARACTERS:
                self._dropped[key] = self._dropped.get(key, 0) + 1
                self.dropped += 1
                return
            self._append(job_id, attempt, level, text)
        self._wake_writer()

    def _append(self, job_id: int, attempt: int, level: str, text: str) -> None:
        # No two lines have one time, so that their order is kept.
        self._last_at = max(datetime.now(UTC), self._last_at + TICK)
        self._lines.append(BufferedLine(job_id, attempt, self._last_at, level, text))
        self._characters += len(text)

    def listen(self, wake: Callable[[], object]) -> None:
        """Have `wake` called once, when there is something to write: now, or when it comes."""
        with self._lock:
            self._wake = wake
            is_empty = not (self._reports or self._lines)
        if not is_empty:
            self._wake_writer()

    def _wake_writer(self) -> None:
        if self._wake is not None:
            with self._lock:
                wake, self._wake = self._wake, None
            if wake is not None:
                wake()

    @property
    def has_progress(self) -> bool:
        """Whether there is progress to write."""
        return bool(self._reports)

    @property
    def is_empty(self) -> bool:
        """Whether everything is written."""
        return not (self._reports or self._lines or self._dropped)

    def latest(self, job_ids: Collection[int] | None = None) -> list[ProgressReport]:
        """The unwritten reports of these jobs, or of all, in the order of their ids."""
        with self._lock:
            found = (
                self._reports.values() if job_ids is None else (self._reports[n] for n in job_ids if n in self._reports)
            )
            return sorted(found, key=_job_id)

    def lines(self, most: int) -> list[BufferedLine]:
        """The oldest unwritten lines."""
        with self._lock:
            self._note_dropped_lines()
            return [self._lines[n] for n in range(min(most, len(self._lines)))]

    def _note_dropped_lines(self) -> None:
        """Where lines were dropped and there is room again, say so in the logs of their jobs."""
        while self._dropped and len(self._lines) < MOST_LINES:
            (job_id, attempt), count = self._dropped.popitem()
            self._append(
                job_id, attempt, "warning", f"{count} lines are missing here: too many waited for the database"
            )

    def written(self, reports: Collection[ProgressReport], lines: int = 0) -> None:
        """These reports and this many of the oldest lines are written."""
        with self._lock:
            for each in reports:
                if self._reports.get(each.job_id) is each:
                    del self._reports[each.job_id]
            for _ in range(lines):
                self._characters -= len(self._lines.popleft().message)

    def forget(self, is_running: Callable[[int], object]) -> None:
        """Stop counting the lines of jobs that have ended."""
        with self._lock:
            for key in [key for key in self._counts if not is_running(key[0])]:
                del self._counts[key]


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
        self._write_lock = trio.Lock()
        self._wrote_at = float("-inf")
        self._dropped_logged = 0

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
        async with self._write_lock:
            self._wrote_at = monotonic()
            if self._buffer.has_progress:
                async with self._buffer.write_lock:
                    await self._write_progress(self._buffer.latest())
            while lines := self._buffer.lines(LINES_PER_STATEMENT):
                await self._write_lines(lines)
            self._buffer.forget(self._is_running)
            self._log_dropped()

    async def _write_progress(self, reports: Sequence[ProgressReport]) -> None:
        await report_progress(self._caller, self._identity.incarnation, reports)
        self._buffer.written(reports)

    async def _write_lines(self, lines: Sequence[BufferedLine]) -> None:
        try:
            columns = list(zip(*lines, strict=True))
            await self._caller.call("write_job_logs", *map(list, columns))
        except DatabaseUnavailable:
            raise
        except LeaseholdError as error:
            log.warning("%d lines of job logs were refused: %s", len(lines), error)
        self._buffer.written((), len(lines))

    def _log_dropped(self) -> None:
        dropped = self._buffer.dropped
        if dropped > self._dropped_logged:
            log.warning(
                "%d lines of job logs were dropped: too many waited for the database", dropped - self._dropped_logged
            )
            self._dropped_logged = dropped


async def report_progress(caller: Caller, incarnation: UUID, reports: Collection[ProgressReport]) -> None:
    """Write these reports. A lost lease or a refusal by Postgres costs the report only. Raises DatabaseUnavailable."""
    messages = [None if each.message is None else sanitized(str(each.message)[:LONGEST_MESSAGE]) for each in reports]
    try:
        await caller.call(
            "report_progress",
            incarnation,
            [each.job_id for each in reports],
            [each.attempt for each in reports],
            [each.fraction for each in reports],
            messages,
        )
    except DatabaseUnavailable:
        raise
    except LeaseholdError as error:
        log.warning("progress was refused: %s", error)


def _set_from_any_thread(token: trio.lowlevel.TrioToken, signal: Signal) -> None:
    with suppress(trio.RunFinishedError):
        token.run_sync_soon(signal.set, idempotent=True)
