"""The parameters and bodies with which jobs are looked at and changed one by one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.gateway.http.fields import LARGEST_BIGINT, Integer, Key, Name
from leasehold.gateway.http.pages import Cursor, Limit
from leasehold.records.jobs import JobRecord

State = Literal["pending", "scheduled", "waiting", "blocked", "claimed", "running", "completed", "failed", "cancelled"]
ListedState = Literal[
    "pending", "scheduled", "waiting", "blocked", "claimed", "running", "completed", "failed", "cancelled", "stale"
]  # fmt: skip
Id = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
Time = Annotated[datetime, Meta(tz=True)]
Reason = Annotated[str, Meta(max_length=1000, description="For people.")]
Metadata = Annotated[dict[str, Any], Meta(description="Any JSON object.")]
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

    state: (
        Annotated[ListedState, Meta(description="`stale`: claimed or running, and the lease has run out.")] | None
    ) = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    worker: Annotated[Name, Meta(description="Id of the worker that has the job, or had it last.")] | None = None
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


class JobParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job."""

    id: Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]


class LogParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job, and which of its attempts; all where none is given."""

    id: Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
    attempt: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


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
