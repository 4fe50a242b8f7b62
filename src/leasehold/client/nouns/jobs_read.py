"""Looking at jobs: lists, one job, its timeline, errors, progress and log."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

from leasehold import validation
from leasehold.asks import checked_before, checked_id, get_job, get_timeline
from leasehold.client.core import Part
from leasehold.database import Row
from leasehold.database.calls import from_row
from leasehold.errors import UnknownJob
from leasehold.jobs.arguments import encode_args
from leasehold.records.jobs import (
    AttemptError,
    BlockerRecord,
    Explanation,
    JobPage,
    JobProgress,
    JobRecord,
    LogLine,
    TimelineEntry,
)

LOOK = 20_000
MOST_BYTES = 4_194_304  # of a page of `search`, and a job
LARGE = ("args", "output", "error", "metadata")


class JobCriteria(TypedDict, total=False):
    """Which jobs: those that match all that is given. What is None does not matter.

    Attributes:
        queue, kind, key: only jobs with these; an index finds those of a key.
        worker_id: only jobs that this worker holds, or held last.
        created_after, created_before: only jobs enqueued from then on, or before then.
        args, metadata: only jobs whose args, or metadata, contain all members of this, at any depth.
    """

    queue: str | None
    kind: str | None
    key: str | None
    worker_id: str | None
    created_after: datetime | None
    created_before: datetime | None
    args: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None


class JobSearch(JobCriteria, total=False):
    """Which jobs a list is about.

    Attributes:
        state: only jobs in it; an index finds them. `stale` stands for held jobs whose lease has run out.
    """

    state: str | None


def encoded_filter(of: str, matching: Mapping[str, object], known: type) -> dict[str, Any]:
    """A filter as the SQL functions take it. Raises TypeError for what `known` does not have."""
    validation.check_options(of, matching, known.__annotations__)
    given: dict[str, Any] = {**matching}
    for name in ("args", "metadata"):
        if given.get(name) is not None:
            given[name] = encode_args(given[name], name).decode()
    return given


INDEXED = {"state", "key"}
"""What an index finds: for anything else, jobs have to be looked at one by one."""


class JobLists(Part):
    """The part of `client.jobs` that lists."""

    async def list(
        self,
        *,
        before_id: int | None = None,
        page_size: int = 50,
        **matching: Unpack[JobSearch],
    ) -> list[JobRecord]:
        """List a page of jobs, newest id first; pass the last id as `before_id` for the next.

        It looks until the page is full or there are no more jobs. Where few of very many jobs match, `search` takes a
        bounded time instead.

        Example:
            for job in await client.jobs.list(state="failed", queue="mail"):
                print(job.id, job.error["message"])

        Args:
            before_id, page_size, matching: as in `search`.

        Raises:
            BadInput: an unknown state, or a page size out of range.
        """
        rows = await self._rows(matching, checked_before(before_id), page_size)
        return [from_row(JobRecord, row) for row in rows]

    async def search(
        self,
        *,
        before_id: int | None = None,
        page_size: int = 50,
        columns: Sequence[str] | None = None,
        **matching: Unpack[JobSearch],
    ) -> JobPage:
        """Search at most 20000 jobs, newest id first, and return a page of those that match.

        A page with fewer jobs than `page_size`, or with none, may not be the last: go on with `next_before_id` until that
        is None. It ends early with the job that brings its args, outputs, errors and metadata to 4 MiB.

        Args:
            before_id: only older ones.
            page_size: 1 to 1000.
            columns: which of args, output, error and metadata to read, None for all; the others are None.
            matching: as in `JobSearch`.

        Raises:
            BadInput: an unknown state, or a page size out of range.
        """
        before_id, end = checked_before(before_id), None
        if any(matching[name] is not None for name in matching.keys() - INDEXED):
            state = matching.get("state")
            known_state = None if state == "stale" else state
            end = await self._database.call_value("find_page_end", known_state, matching.get("key"), before_id, LOOK)
        after_id = None if end is None else int(str(end)) - 1
        rows = await self._rows(matching, before_id, page_size, after_id, columns, MOST_BYTES)
        jobs = [from_row(JobRecord, row) for row in rows]
        if len(rows) == page_size or _bytes_of(rows) >= MOST_BYTES:
            return JobPage(jobs, jobs[-1].id)
        return JobPage(jobs, None if after_id is None else after_id + 1)

    async def _rows(
        self,
        matching: JobSearch,
        before_id: int | None,
        page_size: int,
        after_id: int | None = None,
        columns: Sequence[str] | None = None,
        most_bytes: int | None = None,
    ) -> builtins.list[Row]:
        return await self._database.call(
            "list_jobs",
            **encoded_filter("a search", matching, JobSearch),
            before_id=before_id,
            page_size=page_size,
            after_id=after_id,
            columns=None if columns is None else [*columns],
            most_bytes=most_bytes,
        )

    async def list_recent(
        self, queue: str, *, state: str | None = None, page_size: int = 20
    ) -> builtins.list[JobRecord]:
        """List the jobs of a queue that finished last, newest first.

        Args:
            state: only jobs that ended in this state.
            page_size: 1 to 100.

        Raises:
            BadInput: the page size is out of range, or the state is not that of a finished job.
        """
        return await self._records(JobRecord, "list_recent_jobs", queue, state, page_size)

    async def list_for_key(self, key: str, *, page_size: int = 20) -> builtins.list[JobRecord]:
        """List the unfinished jobs of a key: the one that holds it, then those that follow it, in their order.

        Raises:
            BadInput: the page size is out of range.
        """
        return await self._records(JobRecord, "list_key_jobs", key, page_size)


def _bytes_of(rows: Sequence[Row]) -> int:
    """Of what may be large in them, as the database counts them."""
    return sum(len(row[name].encode()) for row in rows for name in LARGE if row[name] is not None)


class JobReading(Part):
    """The part of `client.jobs` that tells about one job."""

    async def explain(self, job_id: int) -> list[Explanation]:
        """Explain why a job is not running, or that it runs or has ended: every reason, the weightiest first.

        Costs the same however long the queue is, and locks nothing.

        Example:
            for reason in await client.jobs.explain(42):
                print(reason.reason, reason.explanation)

        Raises:
            UnknownJob: no job has this id.
        """
        return await self._records(Explanation, "explain_job", checked_id(job_id))

    async def timeline(self, job_id: int) -> list[TimelineEntry]:
        """Return everything that happened to a job, oldest first.

        Raises:
            UnknownJob: no job has this id.
        """
        found = await self._ask(get_timeline(job_id))
        if not found:
            raise UnknownJob(f"there is no job {job_id}")
        return found

    async def errors(self, job_id: int) -> list[AttemptError]:
        """Return the error of each attempt of a job that failed, oldest first; a retry keeps them all.

        Raises:
            UnknownJob: no job has this id.
        """
        return await self._records(AttemptError, "get_job_errors", checked_id(job_id))

    async def progress(self, job_id: int) -> JobProgress | None:
        """Return how far a job has come, as its handler last said with `job.progress`; None where it said nothing.

        It stays when the job has ended.

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._database.call("get_job_progress", checked_id(job_id))
        if not rows:
            await self._ask(get_job(job_id))
        return from_row(JobProgress, rows[0]) if rows else None

    async def logs(self, job_id: int, *, attempt: int | None = None) -> list[LogLine]:
        """Return the lines of a job's log, oldest first, at most a thousand.

        A line is there within half a second after it was logged.

        Args:
            attempt: only the lines of this one.

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._database.call("get_job_logs", checked_id(job_id), attempt)
        if not rows:
            await self._ask(get_job(job_id))
        return [from_row(LogLine, row) for row in rows]

    async def blockers(self, job_id: int) -> list[BlockerRecord]:
        """Return the chains that a job waits or waited for, in the order of its slots."""
        return await self._records(BlockerRecord, "get_job_blockers", checked_id(job_id))
