"""Changing many jobs at once: all that match, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack, cast

from leasehold import validation
from leasehold.asks import checked_ids
from leasehold.client.core import Part
from leasehold.client.nouns.jobs_read import JobCriteria, encoded_filter
from leasehold.database import Row
from leasehold.database.calls import from_row
from leasehold.errors import BadInput
from leasehold.events import JobCancelled, JobRequeued
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.encoding import JobBatch, encode_document, refused_job
from leasehold.jobs.new_job import NewJob, begins_chain
from leasehold.records.jobs import ChangedJob, KeyedJob

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


class BulkFilter(JobCriteria, total=False):
    """Which jobs a bulk change is about: those that match all that is given, as in `JobCriteria`, or those with these ids.

    Attributes:
        error_type: only jobs whose last attempt failed with this error.
        job_ids: only these; the answer has each of them, with the reason where nothing was done.
    """

    error_type: str | None
    job_ids: Sequence[int] | None


class JobBulk(Part):
    """The part of `client.jobs` that changes all jobs that match. Without `dry_run=False` nothing changes.

    Each works a thousand at a time, each thousand in a transaction of its own, and answers with what it did to each job.
    """

    async def retry_all(
        self,
        *,
        state: str | None = "failed",
        finished_after: datetime | None = None,
        finished_before: datetime | None = None,
        limit: int | None = None,
        dry_run: bool = True,
        **matching: Unpack[BulkFilter],
    ) -> list[ChangedJob]:
        """Retry all failed or cancelled jobs that match; their count of attempts goes on.

        Example:
            would = await client.jobs.retry_all(kind="crawl", error_type="TimeoutError")
            done = await client.jobs.retry_all(kind="crawl", error_type="TimeoutError", dry_run=False)

        Args:
            state: `failed`, `cancelled`, or None for both.
            finished_after, finished_before: only jobs that finished from then on, or before then.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: an unknown state.
        """
        own = {"state": state, "finished_after": finished_after, "finished_before": finished_before}
        return self._announced(await self._all("retry_jobs", matching, own, limit, dry_run), dry_run=dry_run)

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
        run_after: datetime | None = None,
        run_before: datetime | None = None,
        limit: int | None = None,
        dry_run: bool = True,
        **matching: Unpack[BulkFilter],
    ) -> list[ChangedJob]:
        """Run all scheduled jobs that match now, also those that wait for their next attempt.

        Args:
            run_after, run_before: only jobs scheduled for then or later, or for earlier.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.
        """
        own = {"run_after": run_after, "run_before": run_before}
        return self._announced(
            await self._all("trigger_scheduled_jobs", matching, own, limit, dry_run), dry_run=dry_run
        )

    async def cancel_all(
        self,
        *,
        state: str | None = None,
        reason: str | None = None,
        limit: int | None = None,
        dry_run: bool = True,
        **matching: Unpack[BulkFilter],
    ) -> list[ChangedJob]:
        """Cancel all unfinished jobs that match; handlers that run are told to stop.

        Args:
            state: only jobs in this one.
            reason: stands in the error of each job.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: the state is unknown, or that of a finished job.
        """
        validation.check_reason(reason)
        changes = await self._all("cancel_jobs", matching, {"state": state, "reason": reason}, limit, dry_run)
        if not dry_run and JobCancelled in self._core.observers.subscribed:
            for change in changes:
                if change.changed:
                    self._core.observers.emit(JobCancelled(job_id=change.job_id, was=str(change.was), reason=reason))
        return changes

    async def delete_all(
        self,
        *,
        state: str | None = None,
        finished_before: datetime | None = None,
        limit: int | None = None,
        dry_run: bool = True,
        **matching: Unpack[BulkFilter],
    ) -> list[ChangedJob]:
        """Delete all jobs that match and that no worker holds, each as `delete` does.

        Args:
            state: only jobs in this one.
            finished_before: only jobs that finished before then.
            limit: at most this many, oldest id first.
            dry_run: only tell what would change; pass False to do it.

        Raises:
            BadInput: the state is unknown, or one in which a worker holds the job.
        """
        own = {"state": state, "finished_before": finished_before}
        return await self._all("delete_jobs", matching, own, limit, dry_run)

    async def enqueue_for_keys(
        self,
        job: NewJob[Any],
        *,
        queue: str | None = None,
        kind: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        state: str | None = None,
        keys: Sequence[str] | None = None,
        after_key: str | None = None,
        limit: int = 1000,
        dry_run: bool = False,
    ) -> list[KeyedJob]:
        """Enqueue the same job for each subject: for each key that jobs have had, as far as these match, in one transaction.

        Args:
            job: without a key of its own. Give it `unique=Unique(by=["kind", "key"])` to make none where one is waiting
                already.
            queue, kind, metadata: look only at jobs of this queue, of this kind, with this in their metadata.
            state: only keys whose newest job among those is in this state: all shops whose last crawl failed.
            keys: only these.
            after_key: only those that follow it in byte order, to go on where the limit was reached.
            limit: the most keys, in byte order; up to 10000.
            dry_run: only tell the keys.

        Returns:
            the keys in their order, each with its job.

        Raises:
            InvalidArgs, UnknownKind, BadInput, UniqueConflict: as `enqueue`. Middlewares do not see these jobs.
        """
        if not isinstance(cast("object", job), NewJob):
            raise refused_job("enqueue_for_keys takes a job made by kind.new(...)", job)
        if (
            job.key is not None
            or job.idempotency_key is not None
            or any(begins_chain(each) for each in job.blockers or ())
        ):
            raise BadInput("a job for each key has no key, no idempotency_key and no new jobs as blockers of its own")
        batch = JobBatch([job], self._core.kind)
        about = None if metadata is None else encode_args(metadata, "metadata").decode()
        names = None if keys is None else [*keys]
        doorbell, queues = self._core.doorbell, batch.queues
        notify = doorbell is None or queues is None
        encoded = encode_document(batch.flat[0])
        values = (encoded, queue, kind, about, state, names, after_key, limit, dry_run, notify)
        made = await self._records(KeyedJob, "enqueue_for_keys", *values)
        if made and not dry_run and doorbell is not None and queues is not None:
            doorbell.ring(queues)
        return made

    async def _all(
        self, function: str, matching: BulkFilter, own: Mapping[str, object], limit: int | None, dry_run: bool
    ) -> list[ChangedJob]:
        given: dict[str, Any] = {**own, **encoded_filter("a filter", matching, BulkFilter), "dry_run": dry_run}
        job_ids: Any = given.pop("job_ids", None)

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            return await self._database.call(function, job_ids=ids, after_id=after_id, batch=batch, **given)

        return await all_pages(page, job_ids, limit)

    def _announced(self, changes: list[ChangedJob], *, dry_run: bool) -> list[ChangedJob]:
        if not dry_run and JobRequeued in self._core.observers.subscribed:
            for change in changes:
                if change.changed:
                    self._core.observers.emit(JobRequeued(job_id=change.job_id, state=str(change.now)))
        return changes
