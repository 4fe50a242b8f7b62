"""`/api/jobs/bulk/…`: changing all jobs that match."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import DryRun, Id, Key, Name, Reason, Time
from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.records.jobs import ChangedJob, FreeState, OpenState

RetriedState = Literal["failed", "cancelled", "any"]
Ids = Annotated[list[Id], Meta(min_length=1, max_length=10_000, description="Only these; each of them is answered.")]
BulkLimit = Annotated[int, Meta(ge=1, le=10_000, description="At most so many, the oldest first.")]
ErrorType = Annotated[Name, Meta(description="Only those whose last attempt failed with such an error.")]
Worker = Annotated[
    Name, Meta(description="Only those that this worker, by its id or its whole friendly name, has or had last.")
]
Args = Annotated[dict[str, Any], Meta(min_length=1, description="Only those whose args contain this.")]
About = Annotated[dict[str, Any], Meta(min_length=1, description="Only those whose metadata contain this.")]
All = Annotated[bool, Meta(description="Needed where neither ids nor any filter is given.")]


class BulkFilterBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all bulk changes have: which jobs, and whether to change them."""

    ids: Ids | None = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    error_type: ErrorType | None = None
    worker: Worker | None = None
    args: Args | None = None
    metadata: About | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    limit: BulkLimit = 1000
    all: All = False
    dry_run: DryRun = True


NO_FILTERS = ("limit", "all", "dry_run", "reason")


def needs_filter(*own: str, **values: Sequence[str]) -> dict[str, Any]:
    """A schema that demands a filter which is not null (or is one of the values), or all jobs by name."""
    names = [name for name in BulkFilterBody.__struct_fields__ if name not in NO_FILTERS]
    schemas: dict[str, dict[str, Any]] = {name: {"not": {"type": "null"}} for name in (*names, *own)}
    schemas |= {name: {"enum": list(each)} for name, each in values.items()}
    schemas["all"] = {"const": True}
    return {"anyOf": [{"required": [name], "properties": {name: schema}} for name, schema in schemas.items()]}


class BulkCancelBody(BulkFilterBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to cancel: all that match what is given."""

    __schema__: ClassVar[Mapping[str, Any]] = needs_filter("state")

    state: OpenState | None = None
    reason: Reason | None = None


class BulkRetryBody(BulkFilterBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to run once more: all that match what is given."""

    __schema__: ClassVar[Mapping[str, Any]] = needs_filter(
        "finished_after", "finished_before", state=("failed", "cancelled")
    )

    state: Annotated[RetriedState, Meta(description="failed if not given.")] | UnsetType = UNSET
    finished_after: Time | None = None
    finished_before: Time | None = None


class BulkTriggerBody(BulkFilterBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which scheduled jobs to run now: all that match what is given."""

    __schema__: ClassVar[Mapping[str, Any]] = needs_filter("run_after", "run_before")

    run_after: Annotated[Time, Meta(description="Scheduled for then or later.")] | None = None
    run_before: Annotated[Time, Meta(description="Scheduled for earlier.")] | None = None


class BulkDeleteBody(BulkFilterBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to remove: all that match what is given and that nobody holds."""

    __schema__: ClassVar[Mapping[str, Any]] = needs_filter("state", "finished_before")

    state: FreeState | None = None
    finished_before: Time | None = None


class BulkBody(msgspec.Struct, frozen=True, kw_only=True):
    """What was done with each job, or would be done.

    Attributes:
        changed: how many jobs were changed.
        skipped: how many were not; their items say why.
        is_limited: the limit was reached: there may be more that match.
    """

    dry_run: bool
    changed: int
    skipped: int
    is_limited: bool
    items: Sequence[ChangedJob]


routes = Routes("jobs")


@routes(
    "POST",
    "/api/jobs/bulk/cancel",
    "Cancel all jobs that match",
    scope=Scope.OPERATE,
    example={"queue": "crawl", "state": "pending", "reason": "the shop asked us to", "dry_run": False},
)
async def cancel_jobs(call: Call[NoParameters, BulkCancelBody]) -> BulkBody:
    """Cancels all unfinished jobs that match. Unless `dry_run` is false, it only reports what it would do."""
    return await change_all(call.body, call.services.client.jobs.cancel_all)


@routes(
    "POST",
    "/api/jobs/bulk/retry",
    "Run all failed jobs that match once more",
    scope=Scope.OPERATE,
    example={"kind": "crawl", "error_type": "TimeoutError", "dry_run": False},
)
async def retry_jobs(call: Call[NoParameters, BulkRetryBody]) -> BulkBody:
    """Runs all failed jobs that match once more (with `state`: cancelled ones, or any). Unless `dry_run` is false, it only
    reports what it would do."""
    return await change_all(call.body, call.services.client.jobs.retry_all)


@routes(
    "POST",
    "/api/jobs/bulk/trigger",
    "Run all scheduled jobs now that match",
    scope=Scope.OPERATE,
    example={"kind": "crawl", "run_before": "2026-01-01T00:00:00Z", "dry_run": False},
)
async def trigger_jobs(call: Call[NoParameters, BulkTriggerBody]) -> BulkBody:
    """Runs all scheduled jobs that match now, including those that wait for their next attempt. Unless `dry_run` is false,
    it only reports what it would do."""
    return await change_all(call.body, call.services.client.jobs.trigger_all)


@routes(
    "POST",
    "/api/jobs/bulk/delete",
    "Remove all jobs that match",
    scope=Scope.OPERATE,
    example={"state": "cancelled", "finished_before": "2026-01-01T00:00:00Z", "dry_run": False},
)
async def delete_jobs(call: Call[NoParameters, BulkDeleteBody]) -> BulkBody:
    """Removes all jobs that match and that no worker holds. Unless `dry_run` is false, it only reports what it would do."""
    return await change_all(call.body, call.services.client.jobs.delete_all)


async def change_all(body: BulkFilterBody, change: Callable[..., Awaitable[Sequence[ChangedJob]]]) -> BulkBody:
    """Change what the body means. Refuses one that means every job without saying so: a state of "any" narrows nothing down."""
    given = {name: getattr(body, name) for name in body.__struct_fields__ if name != "all"}
    if given.get("state") == "any":
        given["state"] = None
    filters = {name: value for name, value in given.items() if name not in NO_FILTERS}
    if not body.all and all(each is None or each is UNSET for each in filters.values()):
        raise refuse_field("$.all", f'Give {", ".join(filters)}, or "all": true where you mean all jobs')
    changes = await change(
        job_ids=given.pop("ids"),
        worker_id=given.pop("worker"),
        **{name: value for name, value in given.items() if value is not UNSET},
    )
    return report(changes, body.limit, body.dry_run)


def report(changes: Sequence[ChangedJob], limit: int, dry_run: bool) -> BulkBody:
    """What became of each, with the sums."""
    changed = sum(each.changed for each in changes)
    return BulkBody(
        dry_run=dry_run,
        changed=changed,
        skipped=len(changes) - changed,
        is_limited=len(changes) >= limit,
        items=changes,
    )
