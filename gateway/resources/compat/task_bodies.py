"""A task as clients of task workers send it and read it: their names beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import LARGEST_BIGINT, Key, Name
from leasehold.gateway.resources.jobs.bodies import JobsParameters, JobView
from leasehold.gateway.resources.jobs.enqueue_bodies import JobBody
from leasehold.records.jobs import JobRecord
from leasehold.records.queues import QueueCounts

DEFAULT_RETRIES = 3
OURS = ("kind", "queue", "key", "run_at", "delay", "max_attempts", "args")
THEIRS = ("role", "dispensary_id", "platform", "scheduled_for", "max_retries", "payload")
"""A task with a role has their fields, one with a kind ours: two names of one thing never meet."""

Status = Literal["pending", "claimed", "running", "completed", "failed", "stale"]
StoreId = Annotated[int, Meta(ge=-LARGEST_BIGINT, le=LARGEST_BIGINT)] | Key
Platform = Annotated[str, Meta(max_length=200, description="Stands as `platform` in the metadata.")]


def _only(name: str, *without: str) -> dict[str, Any]:
    absent = {each: False if each == "args" else {"type": "null"} for each in without}
    return {"required": [name], "properties": {**absent, name: {"type": "string"}}}


class TaskBody(JobBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task to enqueue. `role` is queue and kind in one; a task with a role is retried three times unless it says otherwise.
    A task has their fields and a role, or ours and a kind; the others go with both."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            _only("role", *OURS, "platform"),
            _only("role", *OURS, "metadata"),
            _only("kind", *THEIRS, "delay"),
            _only("kind", *THEIRS, "run_at"),
        ]
    }

    kind: Name | None = None  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]
    role: Annotated[Name, Meta(description="Queue and kind.")] | None = None
    dispensary_id: Annotated[StoreId, Meta(description="The key: one active task per store.")] | None = None
    platform: Platform | None = None
    scheduled_for: Annotated[datetime, Meta(tz=True, description="Not before this time.")] | None = None
    max_retries: Annotated[int, Meta(ge=0, le=999_999)] | None = None
    payload: Annotated[dict[str, Any], Meta(description="The args.")] | None = None


TaskBatch = Annotated[list[TaskBody], Meta(min_length=1, max_length=1000)]


class TasksParameters(JobsParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tasks: by their names or by ours."""

    role: Name | None = None
    status: Status | None = None
    dispensary_id: Key | None = None
    platform: Platform | None = None


THEIR_FIELDS: tuple[tuple[str, Any], ...] = (
    ("role", str),
    ("dispensary_id", int | str | None),
    ("platform", Any),
    ("status", Status),
    ("scheduled_for", datetime | None),
    ("completed_at", datetime | None),
    ("last_heartbeat_at", datetime | None),
    ("result", Any),
    ("error_message", str | None),
    ("retry_count", int),
    ("max_retries", int),
    ("updated_at", datetime),
)

TaskRecord = msgspec.defstruct(
    "TaskRecord",
    [*((field.name, field.type) for field in msgspec.structs.fields(JobRecord)), *THEIR_FIELDS],
    frozen=True,
    kw_only=True,
    module=__name__,
    namespace={"__doc__": "A job with the columns of `worker_tasks` beside its own."},
)
TaskView = msgspec.defstruct(
    "TaskView",
    [
        *(
            (field.name, field.type, *([field.default] if field.name != "id" else []))
            for field in msgspec.structs.fields(JobView)
        ),
        *(
            (name, given | msgspec.UnsetType if given is not Any else Any, msgspec.UNSET)
            for name, given in THEIR_FIELDS
        ),
    ],
    frozen=True,
    kw_only=True,
    module=__name__,
    namespace={"__doc__": "A job as `TaskRecord`, with the fields of ours that were asked for."},
)


class TaskCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks there are in each state, in all roles, and `items` for each role."""

    pending: int
    claimed: int
    running: int
    completed: int
    failed: int
    stale: int
    items: list[QueueCounts]
    next: str | None = None


class ActiveTasks(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the store has a task that runs, which one, and what waits behind it."""

    active: bool
    task: TaskRecord | None  # pyright: ignore[reportInvalidTypeForm]
    items: list[TaskRecord]  # pyright: ignore[reportInvalidTypeForm]
    next: str | None = None
