"""`/api/jobs…`: looking at jobs, and changing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import (
    Attempts,
    ById,
    Cursor,
    Id,
    Integer,
    Key,
    Limit,
    Metadata,
    Name,
    Page,
    Reason,
    Time,
    WorkerName,
    cursor_at,
    place_of,
)
from leasehold.gateway.http.problems import (
    ARGS_TOO_LARGE,
    INVALID_ARGS,
    ROW_LOCKED,
    UNIQUE_CONFLICT,
    UNKNOWN_JOB,
    UNKNOWN_KIND,
    UNKNOWN_WORKER,
    WRONG_STATE,
    refuse_field,
)
from leasehold.gateway.nouns.jobs_enqueue import read_args, read_part
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.records.jobs import (
    AttemptError,
    Explanation,
    JobProgress,
    JobRecord,
    ListedState,
    LogLine,
    State,
    TimelineEntry,
)
from leasehold.records.queues import QueueCounts

NOT_GIVEN = msgspec.Raw(b"null")
JSON_TEXT = {"contentMediaType": "application/json", "contentSchema": {"type": "object"}}
LARGE_FIELDS = ("args", "output", "error", "metadata")
LARGE_LIMIT = 100
Field = Literal[
    "id", "state", "kind", "queue", "key", "priority", "args", "output", "error", "metadata", "attempt", "spared_attempts",
    "max_attempts", "created_at", "run_at", "claimed_at", "started_at", "finished_at", "heartbeat_at", "lease_expires_at",
    "worker_id", "chain_id", "chain_position", "succeeded_by",
]  # fmt: skip

JobView = msgspec.defstruct(
    "JobView",
    [
        (field.name, field.type) if field.name == "id" else (field.name, field.type | UnsetType, UNSET)
        for field in msgspec.structs.fields(JobRecord)
    ],
    frozen=True,
    kw_only=True,
    module=__name__,
    namespace={"__doc__": "A job as `JobRecord`, with the fields that were asked for."},
)


class JobsParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs, and how much of them."""

    state: (
        Annotated[ListedState, Meta(description="`stale`: claimed or running, and the lease has run out.")] | None
    ) = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    worker: Annotated[Name, Meta(description="Id or whole friendly name of the worker that has or had it.")] | None = (
        None
    )
    created_after: Annotated[Time, Meta(description="Enqueued then or later.")] | None = None
    created_before: Annotated[Time, Meta(description="Enqueued earlier.")] | None = None
    args: (
        Annotated[str, Meta(description="A JSON object that is part of the args.", extra_json_schema=JSON_TEXT)] | None
    ) = None
    metadata: (
        Annotated[str, Meta(description="A JSON object that is part of the metadata.", extra_json_schema=JSON_TEXT)]
        | None
    ) = None
    fields: Annotated[list[Field], Meta(description="Only these, and the id.")] | None = None
    cursor: Cursor | None = None
    limit: Annotated[
        Limit, Meta(description=f"Above {LARGE_LIMIT} only with `fields` that has none of {', '.join(LARGE_FIELDS)}.")
    ] = 50


class LogParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job, and which of its attempts; all where none is given."""

    id: Id
    attempt: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


class ReasonParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job, and why."""

    id: Id
    reason: Reason | None = None


class StaleParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a worker may have been silent about a job, and which worker: all where none is given."""

    minutes: Annotated[float, Meta(gt=0, le=52_596_000)] = 10.0
    worker: WorkerName | None = None


class EditBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change of a job; what is left out stays."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
            for name in ("args", "priority", "queue", "run_at", "max_attempts", "metadata")
        ]
    }

    args: Annotated[
        msgspec.Raw, Meta(description="Any JSON object.", extra_json_schema={"type": ["object", "null"]})
    ] = msgspec.field(default_factory=lambda: NOT_GIVEN)
    priority: Integer | None = None
    queue: Name | None = None
    run_at: Time | None = None
    max_attempts: Attempts | None = None
    metadata: Metadata | None = None
    reason: Reason | None = None


class StateBody(msgspec.Struct, frozen=True):
    """The state that the job is in now."""

    state: State


class WasBody(msgspec.Struct, frozen=True):
    """The state that the job was in."""

    was: State


class RecoveredBody(msgspec.Struct, frozen=True):
    """How many jobs were taken back."""

    recovered: int


ONE = (UNKNOWN_JOB,)
CHANGE = (*ONE, WRONG_STATE)
routes = Routes("jobs")


@routes("GET", "/api/jobs", "List jobs, newest first", response=Page[JobView], scope=Scope.READ)
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


@routes("GET", "/api/jobs/{id}", "Show one job", errors=ONE, scope=Scope.READ)
async def show_job(call: Call[ById, None]) -> JobRecord:
    """One job, whatever its state."""
    return await call.services.client.get(call.parameters.id)


@routes("GET", "/api/jobs/{id}/why", "Explain why a job is not running", errors=ONE, scope=Scope.READ)
async def explain_job(call: Call[ById, None]) -> Page[Explanation]:
    """Why a job is not running: all reasons, the most important first."""
    return Page(await call.services.client.jobs.explain(call.parameters.id))


@routes("GET", "/api/jobs/{id}/progress", "Show how far a job has come", errors=ONE, scope=Scope.READ)
async def show_progress(call: Call[ById, None]) -> JobProgress | None:
    """The progress of a job; null if its handler reported none."""
    return await call.services.client.jobs.progress(call.parameters.id)


@routes("GET", "/api/jobs/{id}/logs", "List what the handlers of a job have logged", errors=ONE, scope=Scope.READ)
async def show_logs(call: Call[LogParameters, None]) -> Page[LogLine]:
    """The log of a job, oldest line first, a thousand lines at the most."""
    return Page(await call.services.client.jobs.logs(call.parameters.id, attempt=call.parameters.attempt))


@routes("GET", "/api/jobs/{id}/timeline", "Tell the life of a job", errors=ONE, scope=Scope.READ)
async def show_timeline(call: Call[ById, None]) -> Page[TimelineEntry]:
    """Everything that happened to a job, oldest first. Of a deleted job one event remains."""
    return Page(await call.services.client.jobs.timeline(call.parameters.id))


@routes("GET", "/api/jobs/{id}/errors", "List with what the attempts of a job failed", errors=ONE, scope=Scope.READ)
async def show_errors(call: Call[ById, None]) -> Page[AttemptError]:
    """The error of each failed attempt, oldest first; a retry keeps them."""
    return Page(await call.services.client.jobs.errors(call.parameters.id))


@routes("GET", "/api/jobs/counts", "Count jobs by queue and state", scope=Scope.READ)
async def count_jobs(call: Call[NoParameters, None]) -> Page[QueueCounts]:
    """How many jobs each queue has in each state."""
    return Page(await call.services.client.metrics.counts())


@routes("POST", "/api/jobs/{id}/cancel", "Cancel a job", errors=(*CHANGE, ROW_LOCKED), scope=Scope.OPERATE)
async def cancel_job(call: Call[ReasonParameters, None]) -> WasBody:
    """Cancels a job that has not finished. A running handler is told to stop, and its result is refused."""
    return WasBody(await call.services.client.cancel(call.parameters.id, call.parameters.reason))  # pyright: ignore[reportArgumentType]


@routes(
    "POST",
    "/api/jobs/{id}/retry",
    "Run a failed or cancelled job once more",
    errors=(*CHANGE, UNIQUE_CONFLICT),
    scope=Scope.OPERATE,
)
async def retry_job(call: Call[ById, None]) -> StateBody:
    """Runs a failed or cancelled job once more, or a scheduled one now. Its attempts go on counting."""
    return StateBody(await call.services.client.retry(call.parameters.id))  # pyright: ignore[reportArgumentType]


@routes("POST", "/api/jobs/{id}/trigger", "Run a scheduled job now", errors=CHANGE, scope=Scope.OPERATE)
async def trigger_job(call: Call[ById, None]) -> StateBody:
    """Runs a scheduled job now, or one that waits for its next attempt."""
    return StateBody(await call.services.client.jobs.trigger(call.parameters.id))  # pyright: ignore[reportArgumentType]


@routes(
    "PATCH",
    "/api/jobs/{id}",
    "Change a job before it runs",
    errors=(*CHANGE, INVALID_ARGS, ARGS_TOO_LARGE, UNKNOWN_KIND),
    scope=Scope.OPERATE,
    example={"priority": 10, "reason": "the customer waits"},
)
async def edit_job(call: Call[ById, EditBody]) -> StateBody:
    """Changes a job that nobody holds, or one that failed or was cancelled, before it is retried. The timeline has the old
    and the new values."""
    fields = msgspec.structs.asdict(call.body)
    given = bytes(fields["args"])
    fields["args"] = None if given == b"null" else read_args(given, call.services.limits, "$.args")
    state = await call.services.client.jobs.edit(call.parameters.id, **fields)
    return StateBody(state)  # pyright: ignore[reportArgumentType]


@routes(
    "DELETE",
    "/api/jobs/{id}",
    "Remove a job that nobody holds",
    errors=CHANGE,
    scope=Scope.OPERATE,
)
async def delete_job(call: Call[ById, None]) -> WasBody:
    """Removes a job that nobody holds, finished or not; one event `deleted` remains in its timeline.

    Refused while a worker holds it (cancel it first), while another job waits for it, and for one of several jobs of a
    chain (delete the chain).
    """
    return WasBody(await call.services.client.jobs.delete(call.parameters.id))  # pyright: ignore[reportArgumentType]


@routes(
    "POST",
    "/api/jobs/recover-stale",
    "Take back jobs that their workers have forgotten",
    errors=(UNKNOWN_WORKER,),
    scope=Scope.OPERATE,
)
async def recover_stale(call: Call[StaleParameters, None]) -> RecoveredBody:
    """Takes back every job whose lease has run out, or whose worker has not renewed it for this many minutes. The reaper
    does the former by itself."""
    asked = call.parameters
    return RecoveredBody(await call.services.client.jobs.recover_stale(asked.minutes, worker=asked.worker))
