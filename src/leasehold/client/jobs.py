"""Looking at jobs, and changing one by hand."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from leasehold.client.ids import checked_before, checked_id, checked_ids
from leasehold.client.section import Section
from leasehold.errors import UnknownJob
from leasehold.events import JobCancelled, JobRequeued
from leasehold.records import JobRecord, QueueCounts, TimelineEntry, from_row


class Jobs(Section):
    """The section of the client about jobs that are there."""

    async def get(self, job_id: int) -> JobRecord:
        """One job. Raises UnknownJob."""
        rows = await self._database.call("get_job", checked_id(job_id))
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
        before_id: int | None = None,
        page_size: int = 50,
    ) -> list[JobRecord]:
        """A page of jobs, newest id first; pass the last id as `before_id` for the next. Raises BadInput."""
        rows = await self._database.call("list_jobs", state, queue, kind, key, checked_before(before_id), page_size)
        return [from_row(JobRecord, row) for row in rows]

    async def counts(self) -> builtins.list[QueueCounts]:
        """How many jobs each queue has in each state."""
        return [from_row(QueueCounts, row) for row in await self._database.call("count_jobs")]

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
