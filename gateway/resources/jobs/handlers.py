"""The handlers that look at jobs and change one by hand."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from leasehold.database import OpenTransaction
from leasehold.gateway.http.pages import Page, cursor_at, place_of
from leasehold.gateway.http.problems import PRECONDITION_FAILED, Refusal, refuse_field
from leasehold.gateway.http.replies import etag_of, is_meant
from leasehold.gateway.resources.jobs.bodies import (
    LARGE_FIELDS,
    LARGE_LIMIT,
    EditBody,
    JobParameters,
    JobsParameters,
    LogParameters,
    ReasonParameters,
    RecoveredBody,
    StaleParameters,
    StateBody,
    WasBody,
)
from leasehold.gateway.resources.jobs.new_jobs import read_args, read_part
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.jobs import AttemptError, Explanation, JobProgress, JobRecord, LogLine, TimelineEntry
from leasehold.records.queues import QueueCounts

IF_MATCH = "If-Match"


async def list_jobs(call: Call[JobsParameters, None]) -> Page[dict[str, Any]]:
    """A page of jobs, newest first, finished or not.

    States and keys have an index; for the other filters one page looks at no more than 20000 jobs. It ends early with the job
    that brings args, outputs, errors and metadata to 4 MiB. So a page may have fewer items than `limit`, or none, and yet not be
    the last: go on until `next` is null.
    """
    asked = call.parameters
    names = JobRecord.__struct_fields__ if asked.fields is None else ("id", *asked.fields)
    columns = [name for name in LARGE_FIELDS if name in names]
    if columns and asked.limit > LARGE_LIMIT:
        raise refuse_field("query.limit", f"Above {LARGE_LIMIT} name `fields` without {', '.join(columns)}")
    args = None if asked.args is None else read_part(asked.args, call.services.limits, "query.args")
    metadata = None if asked.metadata is None else read_part(asked.metadata, call.services.limits, "query.metadata")
    for path, wanted in (("query.args", args), ("query.metadata", metadata)):
        call.services.hiding.refuse_search(call.identity, wanted, path)
    found = await call.services.client.jobs.search(
        state=asked.state,
        queue=asked.queue,
        kind=asked.kind,
        key=asked.key,
        worker_id=asked.worker,
        created_after=asked.created_after,
        created_before=asked.created_before,
        args=args,
        metadata=metadata,
        before_id=place_of(asked.cursor),
        page_size=asked.limit,
        columns=columns,
    )
    items = [{name: getattr(job, name) for name in names} for job in found.jobs]
    return Page(items, None if found.next_before_id is None else cursor_at(found.next_before_id))


async def show_job(call: Call[JobParameters, None]) -> JobRecord:
    """One job, whatever its state. With `If-None-Match` it is answered only if it has changed."""
    return await call.services.client.get(call.parameters.id)


async def explain_job(call: Call[JobParameters, None]) -> Page[Explanation]:
    """Why a job is not running: all reasons, the most important first."""
    return Page(await call.services.client.jobs.explain(call.parameters.id))


async def show_progress(call: Call[JobParameters, None]) -> JobProgress | None:
    """The progress of a job; null if its handler reported none."""
    return await call.services.client.jobs.progress(call.parameters.id)


async def show_logs(call: Call[LogParameters, None]) -> Page[LogLine]:
    """The log of a job, oldest line first, a thousand lines at the most."""
    return Page(await call.services.client.jobs.logs(call.parameters.id, attempt=call.parameters.attempt))


async def show_timeline(call: Call[JobParameters, None]) -> Page[TimelineEntry]:
    """Everything that happened to a job, oldest first. Of a deleted job one event remains."""
    return Page(await call.services.client.jobs.timeline(call.parameters.id))


async def show_errors(call: Call[JobParameters, None]) -> Page[AttemptError]:
    """The error of each failed attempt, oldest first; a retry keeps them."""
    return Page(await call.services.client.jobs.errors(call.parameters.id))


async def count_jobs(call: Call[NoParameters, None]) -> Page[QueueCounts]:
    """How many jobs each queue has in each state."""
    return Page(await call.services.client.metrics.counts())


async def cancel_job(call: Call[ReasonParameters, None]) -> WasBody:
    """Cancels a job that has not finished. A running handler is told to stop, and its result is refused."""
    return WasBody(await call.services.client.cancel(call.parameters.id, call.parameters.reason))  # pyright: ignore[reportArgumentType]


async def retry_job(call: Call[JobParameters, None]) -> StateBody:
    """Runs a failed or cancelled job once more, or a scheduled one now. Its attempts go on counting."""
    return StateBody(await call.services.client.retry(call.parameters.id))  # pyright: ignore[reportArgumentType]


async def trigger_job(call: Call[JobParameters, None]) -> StateBody:
    """Runs a scheduled job now, or one that waits for its next attempt."""
    return StateBody(await call.services.client.jobs.trigger(call.parameters.id))  # pyright: ignore[reportArgumentType]


async def edit_job(call: Call[JobParameters, EditBody]) -> StateBody:
    """Changes a job that nobody holds, or one that failed or was cancelled, before it is retried. The timeline has the old
    and the new values. With `If-Match` only if the job has not changed since that ETag."""
    body = call.body
    given = bytes(body.args)
    args = None if given == b"null" else read_args(given, call.services.limits, "$.args")
    async with unchanged(call) as connection:
        state = await call.services.client.jobs.edit(
            call.parameters.id,
            args=args,
            priority=body.priority,
            queue=body.queue,
            run_at=body.run_at,
            max_attempts=body.max_attempts,
            metadata=body.metadata,
            reason=body.reason,
            connection=connection,
        )
    return StateBody(state)  # pyright: ignore[reportArgumentType]


async def delete_job(call: Call[JobParameters, None]) -> WasBody:
    """Removes a job that nobody holds, finished or not; one event `deleted` remains in its timeline.

    Refused while a worker holds it (cancel it first), while another job waits for it, and for one of several jobs of a
    chain (delete the chain). With `If-Match` only if the job has not changed since that ETag.
    """
    async with unchanged(call) as connection:
        was = await call.services.client.jobs.delete(call.parameters.id, connection=connection)
    return WasBody(was)  # pyright: ignore[reportArgumentType]


@asynccontextmanager
async def unchanged(call: Call[JobParameters, Any]) -> AsyncGenerator[OpenTransaction | None]:
    """A transaction in which the job is and stays what the caller's If-Match names; None for a caller without one.

    Raises Refusal where it has changed.
    """
    given = call.headers.get(IF_MATCH)
    if given is None:
        yield None
        return
    client = call.services.client
    async with client.transaction() as transaction:
        job = await client.jobs.lock(call.parameters.id, connection=transaction)
        if not is_meant(etag_of(await client.payloads.fill(job)), given):
            raise Refusal(PRECONDITION_FAILED, f"Job {job.id} is not what If-Match names any more; look at it again.")
        yield transaction


async def recover_stale(call: Call[StaleParameters, None]) -> RecoveredBody:
    """Takes back every job whose lease has run out, or whose worker has not renewed it for this many minutes. The reaper
    does the former by itself."""
    return RecoveredBody(await call.services.client.jobs.recover_stale(call.parameters.minutes))
