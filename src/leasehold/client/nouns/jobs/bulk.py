"""Changing many jobs at once: all that match."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leasehold.client.core import Part
from leasehold.client.nouns.jobs.pages import all_pages
from leasehold.database import Row
from leasehold.events import JobCancelled, JobRequeued
from leasehold.records.jobs import ChangedJob


class JobBulk(Part):
    """The part of `client.jobs` that changes all jobs that match. Without `dry_run=False` nothing changes."""

    async def retry_all(
        self,
        *,
        state: str | None = "failed",
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        error_type: str | None = None,
        finished_after: datetime | None = None,
        finished_before: datetime | None = None,
        job_ids: Sequence[int] | None = None,
        limit: int | None = None,
        dry_run: bool = True,
    ) -> list[ChangedJob]:
        """Retry all failed or cancelled jobs that match; their count of attempts goes on.

        It works a thousand at a time, each thousand in a transaction of its own.

        Example:
            would = await client.jobs.retry_all(kind="crawl", error_type="TimeoutError")
            done = await client.jobs.retry_all(kind="crawl", error_type="TimeoutError", dry_run=False)

        Args:
            state: `failed`, `cancelled`, or None for both.
            queue, kind, key: only jobs with these.
            error_type: only jobs whose last attempt failed with this error.
            finished_after, finished_before: only jobs that finished from then on, or before then.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: an unknown state.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, finished_after, finished_before)
            return await self._database.call("retry_jobs", *values, ids, after_id, batch, dry_run)

        return self._told(await all_pages(page, job_ids, limit), dry_run=dry_run)

    async def trigger_all(
        self,
        *,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        error_type: str | None = None,
        run_after: datetime | None = None,
        run_before: datetime | None = None,
        job_ids: Sequence[int] | None = None,
        limit: int | None = None,
        dry_run: bool = True,
    ) -> list[ChangedJob]:
        """Run all scheduled jobs that match now, also those that wait for their next attempt.

        It works a thousand at a time, each thousand in a transaction of its own.

        Args:
            queue, kind, key: only jobs with these.
            error_type: only jobs whose last attempt failed with this error.
            run_after, run_before: only jobs scheduled for then or later, or for earlier.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (queue, kind, key, error_type, run_after, run_before)
            return await self._database.call("trigger_scheduled_jobs", *values, ids, after_id, batch, dry_run)

        return self._told(await all_pages(page, job_ids, limit), dry_run=dry_run)

    async def cancel_all(
        self,
        *,
        state: str | None = None,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        error_type: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        job_ids: Sequence[int] | None = None,
        reason: str | None = None,
        limit: int | None = None,
        dry_run: bool = True,
    ) -> list[ChangedJob]:
        """Cancel all unfinished jobs that match; handlers that run are told to stop.

        It works a thousand at a time, each thousand in a transaction of its own.

        Args:
            state: only jobs in this one.
            queue, kind, key: only jobs with these.
            created_after, created_before: only jobs enqueued from then on, or before then.
            error_type: only jobs whose last attempt failed with this error.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            reason: stands in the error of each job.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: the state is unknown, or that of a finished job.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, created_after, created_before)
            return await self._database.call("cancel_jobs", *values, ids, after_id, reason, batch, dry_run)

        changes = await all_pages(page, job_ids, limit)
        if not dry_run and JobCancelled in self._core.observers.heard:
            for change in changes:
                if change.changed:
                    self._core.observers.emit(JobCancelled(job_id=change.job_id, was=str(change.was), reason=reason))
        return changes

    async def delete_all(
        self,
        *,
        state: str | None = None,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        error_type: str | None = None,
        created_before: datetime | None = None,
        finished_before: datetime | None = None,
        job_ids: Sequence[int] | None = None,
        limit: int | None = None,
        dry_run: bool = True,
    ) -> list[ChangedJob]:
        """Delete all jobs that match and that no worker holds, each as `delete` does.

        It works a thousand at a time, each thousand in a transaction of its own.

        Args:
            state: only jobs in this one.
            queue, kind, key: only jobs with these.
            created_before, finished_before: only jobs enqueued or finished before then.
            error_type: only jobs whose last attempt failed with this error.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: the state is unknown, or one in which a worker holds the job.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, created_before, finished_before)
            return await self._database.call("delete_jobs", *values, ids, after_id, batch, dry_run)

        return await all_pages(page, job_ids, limit)

    def _told(self, changes: list[ChangedJob], *, dry_run: bool) -> list[ChangedJob]:
        if not dry_run and JobRequeued in self._core.observers.heard:
            for change in changes:
                if change.changed:
                    self._core.observers.emit(JobRequeued(job_id=change.job_id, state=str(change.now)))
        return changes
