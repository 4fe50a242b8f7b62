"""Jobs that arrive while a statement is in flight go together in the next one.

Enter: a job waits in arrival order. Leave: its statement was committed, or refused. A lone job is never delayed and a crowd
shares one commit. The client's middlewares see the jobs of a statement as one list, as they were sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

from leasehold.client.shared_statements import SharedStatements
from leasehold.errors import DatabaseUnavailable
from leasehold.gateway.http.problems import OVERLOADED, Refusal
from leasehold.jobs.new_job import NewJob, waits_for_nobody
from leasehold.payloads.archive import CERTAIN
from leasehold.records.jobs import EnqueuedJob

EnqueueJobs = Callable[[Sequence[NewJob]], Awaitable[list[EnqueuedJob]]]

PATIENCE_SECONDS = 7.0  # for a job's statement to be sent while those before it get no answer
MOST_JOBS = 10_000  # unanswered at once, and what they may add up to
MOST_BYTES = 67_108_864
ALONE_AT_ONCE = 3


class Coalescer:
    """Turns single enqueues into few `enqueue_jobs` calls.

    Jobs with an idempotency key, a unique key or blockers are sent alone, three at once: their statement may wait for another
    transaction with the same key, and other jobs must not wait for that. Jobs do not wait long behind statements that get no
    answer.

    Attributes:
        statements, jobs, refused: since the start: statements sent, jobs in them, statements refused.
        unanswered: jobs, now.
    """

    def __init__(self, enqueue_jobs: EnqueueJobs) -> None:
        self._enqueue_jobs = enqueue_jobs
        self._alone = asyncio.Semaphore(ALONE_AT_ONCE)
        self._shared = SharedStatements[NewJob, EnqueuedJob](self._send_next)
        self.statements = self.jobs = self.refused = self.unanswered = 0
        self._unanswered_bytes = 0

    async def enqueue(self, job: NewJob, size: int = 0) -> EnqueuedJob:
        """Writes the job, which takes about `size` bytes; returns after the commit. Raises what `enqueue_jobs` raises
        for this job, and Refusal when too much is unanswered. If cancelled, the job may have been written or not."""
        if self.unanswered >= MOST_JOBS or self._unanswered_bytes + size > MOST_BYTES:
            raise Refusal(OVERLOADED, f"{self.unanswered} jobs are waiting to be written; try again.")
        self.unanswered += 1
        self._unanswered_bytes += size
        try:
            if not waits_for_nobody(job):
                return await self._send_alone(job)
            written = self._shared.join(job, size)
            self._shared.start()
            return await written
        finally:
            self.unanswered -= 1
            self._unanswered_bytes -= size

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

    async def _send_next(self, jobs: Sequence[NewJob]) -> list[EnqueuedJob]:
        self._count(jobs)
        try:
            return await self._enqueue_jobs(jobs)
        except CERTAIN:
            self.refused += 1
            raise
        except DatabaseUnavailable as error:
            self._shared.give_up(monotonic() - PATIENCE_SECONDS, error)
            raise

    def _count(self, jobs: Sequence[NewJob]) -> None:
        self.statements += 1
        self.jobs += len(jobs)
