"""A task worker's heartbeat as ours."""

from __future__ import annotations

from hashlib import md5
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import Id, Name
from leasehold.gateway.nouns.workers import (
    HeartbeatAnswer,
    HeartbeatBody,
    Integer,
    Names,
    Slots,
    Text,
    WorkerIdParameters,
    heartbeat,
)
from leasehold.gateway.routing.routes import Call, NoParameters

Megabytes = Annotated[float, Meta(ge=0, le=1e9)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e15)]
Percent = Annotated[float, Meta(ge=0, le=100_000)]

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
    backoff_reason: Text | None = None


class TaskHeartbeat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a task worker reports. The first heartbeat registers it. Which jobs it holds the database knows from its claims;
    `current_task_id` and `current_task_ids` are only counted, where `active_task_count` is left out."""

    worker_id: Name
    role: Annotated[Name, Meta(description="The queue it serves; all where none is given.")] | None = None
    current_task_id: Id | None = None
    current_task_ids: Annotated[list[Id], Meta(max_length=10_000)] | None = None
    active_task_count: Integer | None = None
    max_concurrent_tasks: Slots = 3
    status: Annotated[
        Literal["active", "ready", "idle", "paused", "draining", "decommissioned", "stopped", "offline"],
        Meta(description="The last three sign it off."),
    ] = "active"
    resources: TaskResources = TaskResources()
    kinds: Names = []


MEGABYTE = 2**20
STATES = {
    "paused": "paused",
    "draining": "draining",
    **dict.fromkeys(("decommissioned", "stopped", "offline"), "stopped"),
}


async def beat(call: Call[NoParameters, TaskHeartbeat]) -> HeartbeatAnswer:
    """Says that a task worker lives; the answer has the commands for it."""
    asked = msgspec.structs.replace(
        call,
        parameters=WorkerIdParameters(call.body.worker_id),
        body=heartbeat_of(call.body),  # pyright: ignore[reportArgumentType]
    )
    return await heartbeat(asked)  # pyright: ignore[reportArgumentType]


def heartbeat_of(task_heartbeat: TaskHeartbeat) -> HeartbeatBody:
    """The same in our words: shares for percents, bytes for megabytes, seconds for milliseconds."""
    uses = task_heartbeat.resources
    values: dict[str, Any] = {
        "memory": _scaled(uses.memory_percent, 0.01)
        if uses.memory_percent is not None
        else _share(uses.memory_mb, uses.memory_total_mb),
        "cpu": _scaled(uses.cpu_percent, 0.01),
        "rss": _bytes(uses.memory_rss_mb),
        "memory_limit": _bytes(uses.memory_total_mb),
        "cpu_user": _scaled(uses.cpu_user_ms, 0.001),
        "cpu_system": _scaled(uses.cpu_system_ms, 0.001),
        "backoff": (uses.backoff_reason or "backing off") if uses.is_backing_off else None,
    }
    return HeartbeatBody(
        incarnation=incarnation_of(task_heartbeat.worker_id),
        state=STATES.get(task_heartbeat.status, "ready"),  # pyright: ignore[reportArgumentType]
        active_jobs=_count(task_heartbeat),
        slots=task_heartbeat.max_concurrent_tasks,
        queues=[] if task_heartbeat.role is None else [task_heartbeat.role],
        kinds=task_heartbeat.kinds,
        version="task worker",
        **values,
    )


def incarnation_of(worker_id: str) -> UUID:
    """Task workers have none: it is made from their id, here as in `sql/compat/claim_task.sql`, so that each heartbeat and each
    claim finds the row of the first."""
    return UUID(md5(f"task worker {worker_id}".encode(), usedforsecurity=False).hexdigest())


def _count(task_heartbeat: TaskHeartbeat) -> int:
    if task_heartbeat.active_task_count is not None:
        return task_heartbeat.active_task_count
    if task_heartbeat.current_task_ids is not None:
        return len(task_heartbeat.current_task_ids)
    return int(task_heartbeat.current_task_id is not None)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else int(megabytes * MEGABYTE)


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None else part / whole
