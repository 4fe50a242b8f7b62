"""Single jobs that are enqueued at the same time on one client go together.

Enter: a job, encoded. Leave: its row of `enqueue_jobs`, after the commit, or its own error. One statement is in flight at a time:
a lone job is sent at once by its caller, and those that come meanwhile share the next one, in the order in which they came.
Plain asyncio; a client under trio crosses over to it once per job, as it would to the database.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from time import monotonic

import msgspec

from leasehold.database import Caller, Row
from leasehold.errors import BadInput, Conflict, DatabaseUnavailable, QueryRefused
from leasehold.jobs.encoding import options_of

MOST_JOBS = 200
MOST_CHARACTERS = 1_048_576
PATIENCE_SECONDS = 1.0  # with a statement that gets no answer; whoever comes later does not wait for it
CLOSE_SECONDS = 2.0
# Definite refusals: the statement was rolled back, so its jobs may be sent again without being written twice.
REFUSED = (BadInput, Conflict, QueryRefused)


class _Passenger(msgspec.Struct, frozen=True, eq=False):
    document: str
    notify: bool
    is_checked: bool
    outcome: asyncio.Future[Row]


class Convoy:
    """Sends single jobs. Not for those whose statement may wait for a stranger's transaction: with an idempotency key, blockers or
    `unique`.

    Args:
        database: of the asyncio flavour.
    """

    def __init__(self, database: Caller) -> None:
        self._database = database
        self._waiting: deque[_Passenger] = deque()
        self._sent_at: float | None = None
        self._driver: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether a job would be sent at once, alone."""
        return self._sent_at is None

    async def enqueue(self, document: str, notify: bool, is_checked: bool = False) -> Row:
        """Write one job. Raises what `enqueue_jobs` raises for it. If cancelled, it may have been written or not; others go on.

        Args:
            document: the job as JSON.
            notify: wake idle workers inside the statement.
            is_checked: it has the defaults of its kind already, and its args fit.
        """
        if self._sent_at is None:
            return await self._lead(document, notify, is_checked)
        if monotonic() - self._sent_at > PATIENCE_SECONDS:
            return (await self._send([document], notify, is_checked))[0]
        passenger = _Passenger(document, notify, is_checked, asyncio.get_running_loop().create_future())
        self._waiting.append(passenger)
        return await passenger.outcome

    async def close(self) -> None:
        """Let those that wait arrive, for a short while."""
        if self._driver is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._driver, CLOSE_SECONDS)

    async def _lead(self, document: str, notify: bool, is_checked: bool) -> Row:
        self._sent_at = monotonic()
        try:
            return (await self._send([document], notify, is_checked))[0]
        finally:
            self._sent_at = None
            if self._waiting:
                self._sent_at = monotonic()
                self._driver = asyncio.create_task(self._drive(), name="convoy")

    async def _drive(self) -> None:
        try:
            while batch := self._board():
                self._sent_at = monotonic()
                await self._write(batch)
                await asyncio.sleep(0)  # those that have arrived may come along with their next job
        finally:
            self._sent_at = self._driver = None
            _fail([*self._waiting], DatabaseUnavailable("the client was closed before the job was sent"))
            self._waiting.clear()

    def _board(self) -> list[_Passenger]:
        """Who goes next: as many as fit, without those that have given up."""
        batch: list[_Passenger] = []
        size = 0
        while self._waiting and len(batch) < MOST_JOBS:
            size += len(self._waiting[0].document)
            if batch and size > MOST_CHARACTERS:
                break
            passenger = self._waiting.popleft()
            if not passenger.outcome.done():
                batch.append(passenger)
        return batch

    async def _write(self, batch: Sequence[_Passenger]) -> None:
        try:
            rows = await self._send(
                [each.document for each in batch],
                any(each.notify for each in batch),
                all(each.is_checked for each in batch),
            )
        except REFUSED as error:
            if len(batch) == 1:
                _fail(batch, error)
                return
            middle = len(batch) // 2
            await self._write(batch[:middle])
            await self._write(batch[middle:])
        except Exception as error:
            _fail(batch, error)
        except BaseException:
            _fail(
                batch,
                DatabaseUnavailable("the client was closed while the job was being sent; it may have been written"),
            )
            raise
        else:
            for passenger, row in zip(batch, rows, strict=True):
                if not passenger.outcome.done():
                    passenger.outcome.set_result(row)

    async def _send(self, documents: Sequence[str], notify: bool, is_checked: bool) -> list[Row]:
        options = options_of(notify=notify, is_checked=is_checked)
        return await self._database.call("enqueue_jobs", f"[{','.join(documents)}]", *options)


def _fail(batch: Sequence[_Passenger], error: Exception) -> None:
    """Give each an error of its own: an exception that several tasks raise collects the traces of all of them."""
    for passenger in batch:
        if not passenger.outcome.done():
            own = copy(error)
            own.__cause__ = error.__cause__
            passenger.outcome.set_exception(own)
