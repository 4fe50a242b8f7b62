"""A task worker's heartbeat as ours."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

import msgspec

from leasehold.gateway.resources.compat.heartbeat_body import TaskHeartbeat
from leasehold.gateway.resources.workers.bodies import HeartbeatAnswer, HeartbeatBody, WorkerIdParameters
from leasehold.gateway.resources.workers.handlers import heartbeat
from leasehold.gateway.routing.routes import Call, NoParameters

WORKERS = UUID("6f1ac0de-7a5c-4d0e-9b7e-1ea5e401dca5")
"""Task workers have no incarnation: it is made from their id, so that each heartbeat finds the row of the first."""
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


def heartbeat_of(told: TaskHeartbeat) -> HeartbeatBody:
    """The same in our words: shares for percents, bytes for megabytes, seconds for milliseconds."""
    uses = told.resources
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
        incarnation=uuid5(WORKERS, told.worker_id),
        state=STATES.get(told.status, "ready"),  # pyright: ignore[reportArgumentType]
        active_jobs=_count(told),
        slots=told.max_concurrent_tasks,
        queues=[] if told.role is None else [told.role],
        kinds=told.kinds,
        version="task worker",
        **values,
    )


def _count(told: TaskHeartbeat) -> int:
    if told.active_task_count is not None:
        return told.active_task_count
    if told.current_task_ids is not None:
        return len(told.current_task_ids)
    return int(told.current_task_id is not None)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else int(megabytes * MEGABYTE)


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None else part / whole
