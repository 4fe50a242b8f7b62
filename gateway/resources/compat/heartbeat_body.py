"""The heartbeat of a task worker."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import LARGEST_BIGINT, Name
from leasehold.gateway.resources.workers.bodies import Integer, Names, Slots, Words

Megabytes = Annotated[float, Meta(ge=0, le=1e9)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e15)]
Percent = Annotated[float, Meta(ge=0, le=100_000)]
TaskId = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]

EXAMPLE: dict[str, Any] = {
    "worker_id": "worker-abc123",
    "current_task_id": 456,
    "current_task_ids": [456, 457, 458],
    "active_task_count": 3,
    "max_concurrent_tasks": 3,
    "status": "active",
    "resources": {
        "memory_mb": 256,
        "memory_total_mb": 512,
        "memory_rss_mb": 320,
        "memory_percent": 50,
        "cpu_user_ms": 12500,
        "cpu_system_ms": 3200,
        "cpu_percent": 45,
        "is_backing_off": False,
        "backoff_reason": None,
    },
}


class TaskResources(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the process uses. `memory_mb` says the same as `memory_percent` of `memory_total_mb`."""

    memory_mb: Megabytes | None = None
    memory_total_mb: Annotated[float, Meta(ge=1, le=1e9)] | None = None
    memory_rss_mb: Megabytes | None = None
    memory_percent: Percent | None = None
    cpu_user_ms: Milliseconds | None = None
    cpu_system_ms: Milliseconds | None = None
    cpu_percent: Percent | None = None
    is_backing_off: bool = False
    backoff_reason: Words | None = None


class TaskHeartbeat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a task worker reports. The first heartbeat registers it. Which jobs it holds the database knows from its claims;
    `current_task_id` and `current_task_ids` are only counted, where `active_task_count` is left out."""

    worker_id: Name
    role: Annotated[Name, Meta(description="The queue it serves; all where none is given.")] | None = None
    current_task_id: TaskId | None = None
    current_task_ids: Annotated[list[TaskId], Meta(max_length=10_000)] | None = None
    active_task_count: Integer | None = None
    max_concurrent_tasks: Slots = 3
    status: Annotated[
        Literal["active", "ready", "idle", "paused", "draining", "decommissioned", "stopped", "offline"],
        Meta(description="The last three sign it off."),
    ] = "active"
    resources: TaskResources = TaskResources()
    kinds: Names = []
