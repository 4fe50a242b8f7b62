"""The bodies that change many jobs at once, chosen by id or by what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.gateway.http.fields import Key, Name
from leasehold.gateway.resources.jobs.bodies import DryRun, Id, Reason, Time
from leasehold.records.jobs import ChangedJob

OpenState = Literal["pending", "scheduled", "waiting", "blocked", "claimed", "running"]
FreeState = Literal["pending", "scheduled", "waiting", "blocked", "completed", "failed", "cancelled"]
RetriedState = Literal["failed", "cancelled", "any"]
Ids = Annotated[list[Id], Meta(min_length=1, max_length=10_000, description="Only these; each of them is answered.")]
BulkLimit = Annotated[int, Meta(ge=1, le=10_000, description="At most so many, the oldest first.")]
ErrorType = Annotated[Name, Meta(description="Only those whose last attempt failed with such an error.")]
Worker = Annotated[Name, Meta(description="Only those that this worker has, or had last.")]
Args = Annotated[dict[str, Any], Meta(min_length=1, description="Only those whose args contain this.")]
About = Annotated[dict[str, Any], Meta(min_length=1, description="Only those whose metadata contain this.")]
All = Annotated[bool, Meta(description="Needed where neither ids nor any filter is given.")]


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
            *given_any(
                "ids",
                "state",
                "queue",
                "kind",
                "key",
                "error_type",
                "worker",
                "args",
                "metadata",
                "created_after",
                "created_before",
            ),
            ALL,
        ]
    }

    ids: Ids | None = None
    state: OpenState | None = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    error_type: ErrorType | None = None
    worker: Worker | None = None
    args: Args | None = None
    metadata: About | None = None
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
                "worker",
                "args",
                "metadata",
                "created_after",
                "created_before",
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
    worker: Worker | None = None
    args: Args | None = None
    metadata: About | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    finished_after: Time | None = None
    finished_before: Time | None = None
    limit: BulkLimit = 1000
    all: All = False
    dry_run: DryRun = True


class BulkTriggerBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which scheduled jobs to run now: all that match what is given."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            *given_any(
                "ids",
                "queue",
                "kind",
                "key",
                "error_type",
                "worker",
                "args",
                "metadata",
                "created_after",
                "created_before",
                "run_after",
                "run_before",
            ),
            ALL,
        ]
    }

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
    run_after: Annotated[Time, Meta(description="Scheduled for then or later.")] | None = None
    run_before: Annotated[Time, Meta(description="Scheduled for earlier.")] | None = None
    limit: BulkLimit = 1000
    all: All = False
    dry_run: DryRun = True


class BulkDeleteBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to remove: all that match what is given and that nobody holds."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            *given_any(
                "ids",
                "state",
                "queue",
                "kind",
                "key",
                "error_type",
                "worker",
                "args",
                "metadata",
                "created_after",
                "created_before",
                "finished_before",
            ),
            ALL,
        ]
    }

    ids: Ids | None = None
    state: FreeState | None = None
    queue: Name | None = None
    kind: Name | None = None
    key: Key | None = None
    error_type: ErrorType | None = None
    worker: Worker | None = None
    args: Args | None = None
    metadata: About | None = None
    created_after: Time | None = None
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
