"""Jobs that failed: why, what to change, and running them again, one or all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from leasehold.client.ids import checked_id, checked_ids
from leasehold.client.section import Section
from leasehold.database import Caller, Row
from leasehold.database.rows import from_row
from leasehold.errors import BadInput
from leasehold.events import JobCancelled, JobRequeued
from leasehold.jobs.kinds.arguments import encode_args
from leasehold.records.jobs import AttemptError, ChangedJob

PAGE = 1000


class DeadLetters(Section):
    """The section of the client about jobs that failed, and about many jobs at once."""

    async def errors(self, job_id: int) -> list[AttemptError]:
        """With what each attempt of a job failed, oldest first; a retry loses none. Raises UnknownJob."""
        rows = await self._database.call("get_job_errors", checked_id(job_id))
        return [from_row(AttemptError, row) for row in rows]

    async def edit(
        self,
        job_id: int,
        *,
        args: Mapping[str, Any] | None = None,
        priority: int | None = None,
        queue: str | None = None,
        run_at: datetime | None = None,
        max_attempts: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        reason: str | None = None,
        connection: Any = None,
    ) -> str:
        """Change a job that nobody holds, or one that failed or was cancelled, before it is retried; returns its state.

        What is None stays. The timeline has the old and the new values, and `reason`. Args are not checked against a kind
        that the client has no app for. `connection` as in `enqueue`.

        Raises:
            UnknownJob: no job has this id.
            WrongState: a worker holds it, it completed, or it has ended and is given a run_at.
            InvalidArgs, BadInput: a value is refused, or none is given.
        """
        if run_at is not None and run_at.tzinfo is None:
            raise BadInput(f"run_at must have a time zone, not {run_at.isoformat()}; use datetime.now(UTC)")
        caller = self._caller(connection)
        encoded = await self._encode_args(caller, job_id, args)
        about = None if metadata is None else encode_args(metadata, "metadata").decode()
        values = (checked_id(job_id), encoded, priority, queue, run_at, max_attempts, about, reason)
        return str(await caller.call_value("edit_job", *values))

    async def retry_jobs(
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
        """Run all failed (or cancelled) jobs that match once more; their attempts go on.

        A thousand at a time, each thousand in a transaction of its own.

        Args:
            state: `failed`, `cancelled`, or None for both.
            queue, kind, key, error_type, finished_after, finished_before: only such.
            job_ids: only these; each of them is answered, with the reason where nothing was done.
            limit: at most so many, oldest id first.
            dry_run: only tell what would be done.

        Raises:
            BadInput: an unknown state.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, finished_after, finished_before)
            return await self._database.call("retry_jobs", *values, ids, after_id, batch, dry_run)

        return self._told(await all_pages(page, job_ids, limit), dry_run=dry_run)

    async def trigger_jobs(
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
        """Run all scheduled jobs now that match, also those that wait for their next attempt.

        A thousand at a time, each thousand in a transaction of its own.

        Args:
            queue, kind, key: only such.
            error_type: only those whose last attempt failed with such an error.
            run_after, run_before: only those that are scheduled for then or later, or for earlier.
            job_ids: only these; each of them is answered, with the reason where nothing was done.
            limit: at most so many, oldest id first.
            dry_run: only tell what would be done.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (queue, kind, key, error_type, run_after, run_before)
            return await self._database.call("trigger_scheduled_jobs", *values, ids, after_id, batch, dry_run)

        return self._told(await all_pages(page, job_ids, limit), dry_run=dry_run)

    async def cancel_jobs(
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

        A thousand at a time, each thousand in a transaction of its own.

        Args:
            state: only in this one.
            queue, kind, key, created_after, created_before: only such.
            error_type: only those whose last attempt failed with such an error.
            job_ids: only these; each of them is answered, with the reason where nothing was done.
            reason: stands in the error of the jobs.
            limit: at most so many, oldest id first.
            dry_run: only tell what would be done.

        Raises:
            BadInput: the state is unknown, or that of a finished job.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, created_after, created_before)
            return await self._database.call("cancel_jobs", *values, ids, after_id, reason, batch, dry_run)

        changes = await all_pages(page, job_ids, limit)
        if not dry_run and JobCancelled in self.observers.heard:
            for change in changes:
                if change.changed:
                    self.observers.emit(JobCancelled(job_id=change.job_id, was=str(change.was), reason=reason))
        return changes

    def _told(self, changes: list[ChangedJob], *, dry_run: bool) -> list[ChangedJob]:
        if not dry_run and JobRequeued in self.observers.heard:
            for change in changes:
                if change.changed:
                    self.observers.emit(JobRequeued(job_id=change.job_id, state=str(change.now)))
        return changes

    async def _encode_args(self, caller: Caller, job_id: int, args: Mapping[str, Any] | None) -> str | None:
        if args is None:
            return None
        if self._app is None:
            return encode_args(args, "args").decode()
        job = (await caller.call("get_job", checked_id(job_id)))[:1]
        kind = self._kind(job[0]["kind"]) if job else None
        return (kind.encode(dict(args)) if kind is not None else encode_args(args, "args")).decode()


Page = Callable[["list[int] | None", "int | None", int], Awaitable["list[Row]"]]


async def all_pages(page: Page, job_ids: Sequence[int] | None, limit: int | None) -> list[ChangedJob]:
    """What `page(ids, after_id, batch)` answers, called until there is no more, or `limit` is reached."""
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
