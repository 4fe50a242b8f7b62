"""Request and response bodies of `/api/jobs…` beyond those of a single job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.gateway.http.bodies import LARGEST_BIGINT, EnqueuedBody, Integer, JobBody, Key, Name
from leasehold.gateway.http.pages import Cursor, Limit
from leasehold.records.jobs import ChangedJob, JobRecord

State = Literal["pending", "scheduled", "waiting", "blocked", "claimed", "running", "completed", "failed", "cancelled"]
OpenState = Literal["pending", "scheduled", "waiting", "blocked", "claimed", "running"]
FreeState = Literal["pending", "scheduled", "waiting", "blocked", "completed", "failed", "cancelled"]
RetriedState = Literal["failed", "cancelled", "any"]
Id = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
Ids = Annotated[list[Id], Meta(min_length=1, max_length=10_000, description="Only these; each of them is answered.")]
Time = Annotated[datetime, Meta(tz=True)]
Reason = Annotated[str, Meta(max_length=1000, description="For people.")]
Metadata = Annotated[dict[str, Any], Meta(description="Any JSON object.")]
BulkLimit = Annotated[int, Meta(ge=1, le=10_000, description="At most so many, the oldest first.")]
ErrorType = Annotated[Name, Meta(description="Only those whose last attempt failed with such an error.")]
All = Annotated[bool, Meta(description="Needed where neither ids nor any filter is given.")]
DryRun = Annotated[bool, Meta(description="Only tell what would be done.")]

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

    state: State | None = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    worker: Annotated[Name, Meta(description="Id of the worker that has the job, or had it last.")] | None = None
    created_after: Annotated[Time, Meta(description="Enqueued then or later.")] | None = None
    created_before: Annotated[Time, Meta(description="Enqueued earlier.")] | None = None
    args: (
        Annotated[str, Meta(description="A JSON object that is part of the args.", extra_json_schema=JSON_TEXT)] | None
    ) = None
    fields: Annotated[list[Field], Meta(description="Only these, and the id.")] | None = None
    cursor: Cursor | None = None
    limit: Annotated[
        Limit, Meta(description=f"Above {LARGE_LIMIT} only with `fields` that has none of {', '.join(LARGE_FIELDS)}.")
    ] = 50  # fmt: skip


class ReasonParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job, and why."""

    id: Id
    reason: Reason | None = None


class StaleParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a worker may have been silent about a job."""

    minutes: Annotated[float, Meta(gt=0, le=52_596_000)] = 10.0


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
    max_attempts: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
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


ChainState = Literal["open", "completed", "failed", "cancelled"]


class ResultBody(EnqueuedBody, frozen=True):
    """The job, and how the chain that it begins stands: `state` is open, completed, failed or cancelled."""

    state: ChainState = "open"
    output: Any = None
    error: Any = None


class KeyFilter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which subjects: the keys of all jobs that match, finished or not.

    `state` is that of the newest of them for each key: all shops whose last crawl failed.
    """

    queue: Name | None = None
    kind: Name | None = None
    metadata: Annotated[Metadata, Meta(description="A JSON object that is part of theirs.")] | None = None
    state: State | None = None
    keys: Annotated[list[Key], Meta(max_length=10_000, description="Only these.")] | None = None


class KeysBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to enqueue for each subject of a filter."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "allOf": [
            {"properties": {"job": {"properties": {"key": {"type": "null"}, "idempotency_key": {"type": "null"}}}}}
        ]
    }

    job: Annotated[JobBody, Meta(description="Without a key: it gets that of the subject.")]
    filter: KeyFilter = KeyFilter()
    after_key: Annotated[Key, Meta(description="Only later keys: `next` of the answer before.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many keys.")] = 1000
    dry_run: DryRun = False


def given_any(*names: str, **values: Sequence[str]) -> list[dict[str, Any]]:
    """Schemas of bodies that have one of these fields, which is not null, or is one of the values."""
    schemas: dict[str, dict[str, Any]] = {name: {"not": {"type": "null"}} for name in names}
    schemas |= {name: {"enum": list(each)} for name, each in values.items()}
    return [{"required": [name], "properties": {name: schema}} for name, schema in schemas.items()]


ALL: Mapping[str, Any] = {"required": ["all"], "properties": {"all": {"const": True}}}


class BulkCancelBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to cancel: all that match what is given."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            *given_any("ids", "state", "queue", "kind", "key", "error_type", "created_after", "created_before"),
            ALL,
        ]
    }

    ids: Ids | None = None
    state: OpenState | None = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    error_type: ErrorType | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    reason: Reason | None = None
    limit: BulkLimit = 1000
    all: All = False
    dry_run: DryRun = True


class BulkRetryBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to run once more: all that match what is given."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            *given_any(
                "ids",
                "queue",
                "kind",
                "key",
                "error_type",
                "finished_after",
                "finished_before",
                state=("failed", "cancelled"),
            ),
            ALL,
        ]
    }

    ids: Ids | None = None
    state: Annotated[RetriedState, Meta(description="failed if not given.")] | UnsetType = UNSET
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    error_type: ErrorType | None = None
    finished_after: Time | None = None
    finished_before: Time | None = None
    limit: BulkLimit = 1000
    all: All = False
    dry_run: DryRun = True


class BulkTriggerBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which scheduled jobs to run now: all that match what is given."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [*given_any("ids", "queue", "kind", "key", "error_type", "run_after", "run_before"), ALL]
    }

    ids: Ids | None = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    error_type: ErrorType | None = None
    run_after: Annotated[Time, Meta(description="Scheduled for then or later.")] | None = None
    run_before: Annotated[Time, Meta(description="Scheduled for earlier.")] | None = None
    limit: BulkLimit = 1000
    all: All = False
    dry_run: DryRun = True


class BulkDeleteBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to remove: all that match what is given and that nobody holds."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            *given_any("ids", "state", "queue", "kind", "key", "error_type", "created_before", "finished_before"),
            ALL,
        ]
    }

    ids: Ids | None = None
    state: FreeState | None = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    error_type: ErrorType | None = None
    created_before: Time | None = None
    finished_before: Time | None = None
    limit: BulkLimit = 1000
    all: All = False
    dry_run: DryRun = True


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
