"""A client that keeps its jobs in memory, and does what a test tells it when the next statement comes."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from leasehold.errors import DatabaseUnavailable, UnknownJob
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import BlockerRecord, ChainRecord, EnqueuedJob, Explanation, JobProgress, JobRecord, LogLine
from leasehold.records.queues import QueueCounts


class FakeJobs:
    """`leasehold.Client.jobs`, for one that knows no job."""

    async def explain(self, job_id: int) -> list[Explanation]:
        raise UnknownJob(f"no job has the id {job_id}")

    async def progress(self, job_id: int) -> JobProgress | None:
        raise UnknownJob(f"no job has the id {job_id}")

    async def logs(self, job_id: int, *, attempt: int | None) -> list[LogLine]:
        raise UnknownJob(f"no job has the id {job_id}")

    async def blockers(self, job_id: int) -> list[BlockerRecord]:
        return []


class FakeChains:
    """`leasehold.Client.chains`, for one that has none. `asked` are the chains that somebody wanted."""

    def __init__(self) -> None:
        self.asked: builtins.list[int] = []

    async def get(self, chain_id: int) -> ChainRecord:
        return self._unknown(chain_id)

    async def list(
        self, *, state: str | None, kind: str | None, queue: str | None, before_id: int | None, page_size: int
    ) -> list[ChainRecord]:
        return []

    async def jobs(self, chain_id: int, *, after_position: int, page_size: int) -> builtins.list[JobRecord]:
        return self._unknown(chain_id)

    async def complete(self, chain_id: int, output: Any, *, continue_with: Any) -> builtins.list[int]:
        return self._unknown(chain_id)

    async def cancel(self, chain_id: int, reason: str | None) -> str:
        return self._unknown(chain_id)

    async def delete(self, chain_id: int, *, cascade: bool) -> builtins.list[int]:
        return self._unknown(chain_id)

    async def wait(self, chain_id: int, *, timeout: float) -> ChainRecord:
        return self._unknown(chain_id)

    def _unknown(self, chain_id: int) -> NoReturn:
        self.asked.append(chain_id)
        raise UnknownJob(f"there is no chain {chain_id}")


class FakeClient:
    """The part of `leasehold.Client` and of its database that tests without one call."""

    def __init__(self) -> None:
        self.statements: list[list[NewJob]] = []
        self.before: Callable[[Sequence[NewJob]], None] = lambda jobs: None
        self.gate: asyncio.Event | None = None
        self.entered = asyncio.Event()
        self.is_away = False
        self.jobs = FakeJobs()
        self.chains = FakeChains()
        self.metrics = self
        self.changes = self  # nobody listens to them

    @property
    def enqueued(self) -> list[NewJob]:
        return [job for statement in self.statements for job in statement]

    async def enqueue_with_outcomes(self, jobs: Sequence[NewJob]) -> list[EnqueuedJob]:
        self.entered.set()
        if self.gate is not None:
            await self.gate.wait()
        await asyncio.sleep(0)
        self.before(jobs)
        first = len(self.enqueued) + 1
        self.statements.append(list(jobs))
        return [EnqueuedJob(job_id, True) for job_id in range(first, first + len(jobs))]

    async def get(self, job_id: int) -> JobRecord:
        raise UnknownJob(f"no job has the id {job_id}")

    async def counts(self) -> list[QueueCounts]:
        return [QueueCounts(queue="default", state="pending", jobs=len(self.enqueued))]

    async def fleet(self) -> NoReturn:
        raise DatabaseUnavailable

    async def call_value(self, function: str, *_args: object, **_options: object) -> int:
        """What is written to the audit log."""
        if self.is_away:
            raise DatabaseUnavailable
        return 1

    async def ping(self) -> None:
        self.before([])
