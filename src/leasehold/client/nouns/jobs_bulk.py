"""Changing many jobs at once: all that match, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from leasehold.asks import checked_ids
from leasehold.client.core import Part
from leasehold.database import Row
from leasehold.database.calls import from_row
from leasehold.errors import BadInput
from leasehold.events import JobCancelled, JobRequeued
from leasehold.jobs.arguments import encode_args
from leasehold.records.jobs import ChangedJob

PAGE = 1000

Page = Callable[["list[int] | None", "int | None", int], Awaitable["list[Row]"]]


async def all_pages(page: Page, job_ids: Sequence[int] | None, limit: int | None) -> list[ChangedJob]:
    """All that `page(ids, after_id, batch)` answers, called until nothing is left or `limit` is reached."""
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be 1 or more, not {limit}")
    ids = None if job_ids is None else sorted(set(checked_ids(job_ids)))[:limit]
    changes: list[ChangedJob] = []
    while limit is None or len(changes) < limit:
        asked = PAGE if limit is None else min(PAGE, limit - len(changes))
        if ids is not None:
            asked_ids, ids = ids[:asked], ids[asked:]
            rows = await page(asked_ids, None, asked) if asked_ids else []
        else:
            rows = await page(None, changes[-1].job_id if changes else None, asked)
        changes += [from_row(ChangedJob, row) for row in rows]
        if not rows or (ids is None and len(rows) < asked):
            break
    return changes


MOST_READ = 20_000  # failures, to find those of a group


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
        worker_id: str | None = None,
        args: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
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
            worker_id: only jobs that this worker holds, or held last.
            args, metadata: only jobs whose args, or metadata, contain all members of this, at any depth.
            created_after, created_before: only jobs enqueued from then on, or before then.
            finished_after, finished_before: only jobs that finished from then on, or before then.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: an unknown state.
        """

        also: dict[str, Any] = {
            **_contents(worker_id, args, metadata),
            "created_after": created_after,
            "created_before": created_before,
        }

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, finished_after, finished_before)
            return await self._database.call("retry_jobs", *values, ids, after_id, batch, dry_run, **also)

        return self._told(await all_pages(page, job_ids, limit), dry_run=dry_run)

    async def retry_failures(
        self,
        fingerprint: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
        dry_run: bool = True,
    ) -> list[ChangedJob]:
        """Retry the failed jobs of one group of `client.metrics.failure_groups`, as `retry_all` does.

        Args:
            fingerprint: of the group.
            since, until: as there.
            limit: at most this many, those that failed last; 1 to 10000.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: `limit` is out of range.
        """
        rows = await self._database.call("list_group_failures", fingerprint, since, until, True, limit, MOST_READ)
        ids = sorted({int(row["job_id"]) for row in rows})
        return await self.retry_all(job_ids=ids, dry_run=dry_run) if ids else []

    async def trigger_all(
        self,
        *,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        error_type: str | None = None,
        worker_id: str | None = None,
        args: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
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
            worker_id: only jobs that this worker holds, or held last.
            args, metadata: only jobs whose args, or metadata, contain all members of this, at any depth.
            created_after, created_before: only jobs enqueued from then on, or before then.
            run_after, run_before: only jobs scheduled for then or later, or for earlier.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.
        """

        also: dict[str, Any] = {
            **_contents(worker_id, args, metadata),
            "created_after": created_after,
            "created_before": created_before,
        }

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (queue, kind, key, error_type, run_after, run_before)
            return await self._database.call("trigger_scheduled_jobs", *values, ids, after_id, batch, dry_run, **also)

        return self._told(await all_pages(page, job_ids, limit), dry_run=dry_run)

    async def cancel_all(
        self,
        *,
        state: str | None = None,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        error_type: str | None = None,
        worker_id: str | None = None,
        args: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
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
            worker_id: only jobs that this worker holds, or held last.
            args, metadata: only jobs whose args, or metadata, contain all members of this, at any depth.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            reason: stands in the error of each job.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: the state is unknown, or that of a finished job.
        """

        also = _contents(worker_id, args, metadata)

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, created_after, created_before)
            return await self._database.call("cancel_jobs", *values, ids, after_id, reason, batch, dry_run, **also)

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
        worker_id: str | None = None,
        args: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_after: datetime | None = None,
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
            worker_id: only jobs that this worker holds, or held last.
            args, metadata: only jobs whose args, or metadata, contain all members of this, at any depth.
            created_after: only jobs enqueued from then on.
            job_ids: only these; the answer has each of them, with the reason where nothing was done.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: the state is unknown, or one in which a worker holds the job.
        """

        also: dict[str, Any] = {**_contents(worker_id, args, metadata), "created_after": created_after}

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, created_before, finished_before)
            return await self._database.call("delete_jobs", *values, ids, after_id, batch, dry_run, **also)

        return await all_pages(page, job_ids, limit)

    def _told(self, changes: list[ChangedJob], *, dry_run: bool) -> list[ChangedJob]:
        if not dry_run and JobRequeued in self._core.observers.heard:
            for change in changes:
                if change.changed:
                    self._core.observers.emit(JobRequeued(job_id=change.job_id, state=str(change.now)))
        return changes


def _contents(
    worker_id: str | None, args: Mapping[str, Any] | None, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What all four functions in SQL take by the same names."""
    return {
        "worker_id": worker_id,
        "args": None if args is None else encode_args(args, "args").decode(),
        "metadata": None if metadata is None else encode_args(metadata, "metadata").decode(),
    }
