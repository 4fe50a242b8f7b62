"""Looking at jobs, and changing one by hand."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from leasehold.client.ids import checked_before, checked_id, checked_ids
from leasehold.client.section import Section
from leasehold.database.rows import from_row
from leasehold.errors import UnknownJob
from leasehold.events import JobCancelled, JobRequeued
from leasehold.jobs.kinds.arguments import encode_args
from leasehold.records.jobs import JobPage, JobRecord, TimelineEntry
from leasehold.records.queues import QueueCounts

LOOK = 20_000


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs a list is about; what is None does not matter."""

    state: str | None
    queue: str | None
    kind: str | None
    key: str | None
    worker_id: str | None
    created_after: datetime | None
    created_before: datetime | None
    args: Mapping[str, Any] | None

    @property
    def is_searched(self) -> bool:
        """Whether jobs have to be looked at one by one: there is an index for states and keys only."""
        others = (self.queue, self.kind, self.worker_id, self.created_after, self.created_before, self.args)
        return any(each is not None for each in others)


class Jobs(Section):
    """The section of the client about jobs that are there."""

    async def get(self, job_id: int) -> JobRecord:
        """One job. Raises UnknownJob."""
        rows = await self._database.call("get_job", checked_id(job_id))
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return from_row(JobRecord, rows[0])

    async def lock(self, job_id: int, *, connection: Any) -> JobRecord:
        """One job as it is, and as it stays until your transaction ends, but for what you do to it: look first, then change.

        Example:
            async with client.transaction() as tx:
                job = await client.lock(42, connection=tx)
                if job.priority < 5:
                    await client.edit(42, priority=5, connection=tx)

        Args:
            job_id: which.
            connection: your own asyncpg connection in a transaction, or `Transaction`.

        Raises UnknownJob.
        """
        rows = await self._caller(connection).call("lock_job", checked_id(job_id))
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return from_row(JobRecord, rows[0])

    async def list(
        self,
        *,
        state: str | None = None,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        worker_id: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        args: Mapping[str, Any] | None = None,
        before_id: int | None = None,
        page_size: int = 50,
    ) -> list[JobRecord]:
        """A page of jobs, newest id first; pass the last id as `before_id` for the next.

        It looks until the page is full or there are no more jobs: where few of very many match, `page` has an end. Filters as
        there. Raises BadInput.
        """
        wanted = JobFilter(
            state=state, queue=queue, kind=kind, key=key, worker_id=worker_id, created_after=created_after,
            created_before=created_before, args=args,
        )  # fmt: skip
        return await self._list(wanted, checked_before(before_id), page_size)

    async def page(
        self,
        *,
        state: str | None = None,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        worker_id: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        args: Mapping[str, Any] | None = None,
        before_id: int | None = None,
        page_size: int = 50,
        columns: Sequence[str] | None = None,
    ) -> JobPage:
        """A page of jobs, newest id first, of which it is known how long it takes: it looks at no more than 20000 jobs.

        It may have fewer jobs than `page_size`, or none, and yet not be the last: go on with `next_before_id` while that is
        not None.

        Args:
            state, queue, kind, key: only such; jobs of a state or key are found by an index.
            worker_id: only those that this worker has, or had last.
            created_after, created_before: only what was enqueued from then on, or before then.
            args: only those whose args contain this: all its members, at any depth.
            before_id: only older ones.
            page_size: 1 to 1000.
            columns: which of args, output, error and metadata to read, None for all; the others are None.

        Raises:
            BadInput: a state that there is not, or a page size out of range.
        """
        wanted = JobFilter(
            state=state, queue=queue, kind=kind, key=key, worker_id=worker_id, created_after=created_after,
            created_before=created_before, args=args,
        )  # fmt: skip
        before_id, end = checked_before(before_id), None
        if wanted.is_searched:
            end = await self._database.call_value("find_page_end", state, key, before_id, LOOK)
        after_id = None if end is None else int(str(end)) - 1
        jobs = await self._list(wanted, before_id, page_size, after_id, columns)
        return JobPage(jobs, jobs[-1].id if len(jobs) == page_size else None if after_id is None else after_id + 1)

    async def _list(
        self,
        wanted: JobFilter,
        before_id: int | None,
        page_size: int,
        after_id: int | None = None,
        columns: Sequence[str] | None = None,
    ) -> builtins.list[JobRecord]:
        args = None if wanted.args is None else encode_args(wanted.args, "args").decode()
        columns = None if columns is None else [*columns]
        values = (wanted.state, wanted.queue, wanted.kind, wanted.key, before_id, page_size, after_id, wanted.worker_id)
        rows = await self._database.call(
            "list_jobs", *values, wanted.created_after, wanted.created_before, args, columns
        )
        return [from_row(JobRecord, row) for row in rows]

    async def counts(self) -> builtins.list[QueueCounts]:
        """How many jobs each queue has in each state. Of big tables it is the last count, and `counted_at` tells of when."""
        rows = sorted(await self._database.call("list_queue_depths"), key=lambda row: (row["queue"], row["state"]))
        return [
            QueueCounts(
                queue=row["queue"],
                state=row["state"],
                jobs=row["jobs"],
                counted_at=None if row["is_exact"] else row["counted_at"],
            )
            for row in rows
        ]

    async def timeline(self, job_id: int) -> builtins.list[TimelineEntry]:
        """Everything that happened to a job, oldest first. Raises UnknownJob."""
        rows = await self._database.call("get_job_timeline", checked_id(job_id))
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return [from_row(TimelineEntry, row) for row in rows]

    async def cancel(self, job_id: int, reason: str | None = None) -> str:
        """Cancel a job that has not finished; returns the state it was in. Raises UnknownJob, WrongState."""
        was = str(await self._database.call_value("cancel_job", checked_id(job_id), reason))
        if JobCancelled in self.observers.heard:
            self.observers.emit(JobCancelled(job_id=job_id, was=was, reason=reason))
        return was

    async def trigger(self, job_id: int) -> str:
        """Run a scheduled job now, or one that waits for its next attempt; returns its new state.

        Raises UnknownJob, WrongState.
        """
        return (await self.trigger_many([job_id]))[job_id]

    async def trigger_many(self, job_ids: Sequence[int]) -> dict[int, str]:
        """Run scheduled jobs now, all or none; returns the new state of each.

        Raises UnknownJob, WrongState, with a message that names those that cannot.
        """
        rows = await self._database.call("trigger_jobs", checked_ids(job_ids))
        states: dict[int, str] = {row["job_id"]: row["state"] for row in rows}
        if JobRequeued in self.observers.heard:
            for job_id, state in states.items():
                self.observers.emit(JobRequeued(job_id=job_id, state=state))
        return states

    async def retry(self, job_id: int) -> str:
        """Run a failed or cancelled job once more, or a scheduled one now; returns its new state.

        Raises UnknownJob, WrongState.
        """
        state = str(await self._database.call_value("retry_job", checked_id(job_id)))
        if JobRequeued in self.observers.heard:
            self.observers.emit(JobRequeued(job_id=job_id, state=state))
        return state
