"""Jobs that arrive while a statement is in flight go together in the next one.

Enter: a job waits in arrival order. Leave: its statement was committed, or refused. One statement is in flight at a time,
so a lone job is never delayed and a crowd shares one commit. A refused batch is halved until the refused job is alone; the
other jobs are written.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from time import monotonic

import msgspec

from leasehold.errors import BadInput, Conflict, DatabaseUnavailable, QueryRefused
from leasehold.gateway.http.problems import OVERLOADED, Refusal
from leasehold.jobs.new_job import NewJob, waits_for_nobody
from leasehold.records.jobs import EnqueuedJob

EnqueueJobs = Callable[[Sequence[NewJob]], Awaitable[list[EnqueuedJob]]]

PATIENCE_SECONDS = 7.0  # for a job's statement to be sent while those before it get no answer
# Definite refusals: the statement was rolled back, so its jobs may be sent again without being written twice.
REFUSED = (BadInput, Conflict, QueryRefused)


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs and bytes go into one statement, and how many may be unanswered at once. A larger job is sent alone."""

    statement_jobs: int = 200
    statement_bytes: int = 1_048_576
    jobs: int = 10_000
    bytes: int = 67_108_864


class CoalescerStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """Counts since the start: statements sent, jobs in them, statements refused. `unanswered` and `waiting` are now."""

    statements: int
    jobs: int
    refused: int
    unanswered: int
    waiting: int


class _Waiting(msgspec.Struct, frozen=True, eq=False):
    job: NewJob
    size: int
    outcome: asyncio.Future[EnqueuedJob]
    since: float


class Coalescer:
    """Turns single enqueues into few `enqueue_jobs` calls.

    Jobs with an idempotency key, a unique key or blockers are sent alone, at most `alone` at once: their statement may wait
    for another transaction with the same key, and other jobs must not wait for that. Jobs do not wait long behind
    statements that get no answer.
    """

    def __init__(self, enqueue_jobs: EnqueueJobs, *, room: Room | None = None, alone: int = 3) -> None:
        self._enqueue_jobs = enqueue_jobs
        self._room = room or Room()
        self._alone = asyncio.Semaphore(alone)
        self._waiting: deque[_Waiting] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._statements = self._jobs = self._refused = 0
        self._unanswered = self._unanswered_bytes = 0

    async def enqueue(self, job: NewJob, size: int = 0) -> EnqueuedJob:
        """Writes the job, which takes about `size` bytes; returns after the commit. Raises what `enqueue_jobs` raises
        for this job, and Refusal when too much is unanswered. If cancelled, the job may have been written or not."""
        if self._unanswered >= self._room.jobs or self._unanswered_bytes + size > self._room.bytes:
            raise Refusal(OVERLOADED, f"{self._unanswered} jobs are waiting to be written; try again.")
        self._unanswered += 1
        self._unanswered_bytes += size
        try:
            if not waits_for_nobody(job):
                return await self._send_alone(job)
            waiting = _Waiting(job, size, asyncio.get_running_loop().create_future(), monotonic())
            self._waiting.append(waiting)
            if self._sending is None:
                self._sending = asyncio.create_task(self._send_all(), name="coalescer")
            return await waiting.outcome
        finally:
            self._unanswered -= 1
            self._unanswered_bytes -= size

    def statistics(self) -> CoalescerStatistics:
        """What went through so far."""
        return CoalescerStatistics(
            statements=self._statements,
            jobs=self._jobs,
            refused=self._refused,
            unanswered=self._unanswered,
            waiting=len(self._waiting),
        )

    async def _send_alone(self, job: NewJob) -> EnqueuedJob:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS) as waiting, self._alone:
                waiting.reschedule(None)
                self._count([job])
                return (await self._enqueue_jobs([job]))[0]
        except TimeoutError:
            raise Refusal(
                OVERLOADED, "Other jobs with keys or blockers have been waiting for long; try again."
            ) from None

    async def _send_all(self) -> None:
        """Send what waits, and what comes meanwhile; the halves of a refused batch go first."""
        batches: list[list[_Waiting]] = []
        try:
            while batches or self._waiting:
                batch = batches.pop() if batches else self._next_batch()
                jobs = [each.job for each in batch]
                self._count(jobs)
                try:
                    written = await self._enqueue_jobs(jobs)
                except REFUSED as error:
                    self._refused += 1
                    middle = len(batch) // 2
                    if middle:
                        batches += batch[middle:], batch[:middle]
                    else:
                        _fail(batch, error)
                except Exception as error:
                    _fail([*batch, *self._given_up(error)], error)
                except BaseException as error:
                    _fail([*batch, *chain.from_iterable(batches)], error)
                    raise
                else:
                    for each, result in zip(batch, written, strict=True):
                        if not each.outcome.done():
                            each.outcome.set_result(result)
        finally:
            self._sending = None

    def _next_batch(self) -> list[_Waiting]:
        batch = [self._waiting.popleft()]
        size = batch[0].size
        while self._waiting and len(batch) < self._room.statement_jobs:
            size += self._waiting[0].size
            if size > self._room.statement_bytes:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _given_up(self, error: Exception) -> list[_Waiting]:
        """The jobs that have waited too long for a database that does not answer."""
        given_up: list[_Waiting] = []
        if isinstance(error, DatabaseUnavailable):
            while self._waiting and monotonic() - self._waiting[0].since > PATIENCE_SECONDS:
                given_up.append(self._waiting.popleft())
        return given_up

    def _count(self, jobs: Sequence[NewJob]) -> None:
        self._statements += 1
        self._jobs += len(jobs)


def _fail(batch: Sequence[_Waiting], error: BaseException) -> None:
    for each in batch:
        if each.outcome.done():
            continue
        if isinstance(error, Exception):
            each.outcome.set_exception(error)
        else:
            each.outcome.cancel()
