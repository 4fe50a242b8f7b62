"""The table of the paths that clients of other systems know: `/api/tasks…`, `/api/job-queue/…` and a few more.

Most are another path of one of our routes with the same handler. Where these clients speak in words of their own, `CHANGES` says
what is different.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from leasehold.gateway.compat import capacity, heartbeat, schedules, tasks
from leasehold.gateway.http.fields import Page
from leasehold.gateway.routing.routes import NoParameters, Route

JOBS = "/api/jobs"
TASKS = "/api/tasks"
TAGS = ("aliases",)
QUEUE_PATHS = {
    f"{JOBS}": "/api/job-queue/enqueue",
    f"{JOBS}/batch": "/api/job-queue/enqueue-batch",
    f"{JOBS}/enqueue-state": "/api/job-queue/enqueue-state",
}
HEARTBEAT_PATHS = ("/api/workers/heartbeat", "/api/worker-registry/heartbeat")


def aliases_of(routes: Iterable[Route]) -> tuple[Route, ...]:
    """A further row for each other path at which a route answers, marked as an alias."""
    return tuple(alias for route in routes for alias in _aliases(route))


def worded(route: Route) -> Route:
    """The route, with the words of other systems beside it where they have the same address."""
    if f"{route.method} {route.path}" not in IN_PLACE:
        return route
    theirs = _at(route.path, route, msgspec.structs.replace(route, **IN_PLACE[f"{route.method} {route.path}"]))
    return msgspec.structs.replace(route, worded=theirs)


def _aliases(route: Route) -> Iterable[Route]:
    worded = msgspec.structs.replace(route, **CHANGES.get(f"{route.method} {route.path}", {}))
    if route.path == JOBS or route.path.startswith(f"{JOBS}/"):
        yield _at(TASKS + route.path.removeprefix(JOBS), route, worded)
    if route.method == "POST" and route.path in QUEUE_PATHS:
        yield _at(QUEUE_PATHS[route.path], route, worded)
    for prefix, name in ((f"{JOBS}/queues/", "role"), (f"{JOBS}/keys/", "store")):
        if route.path.startswith(prefix):
            for root in (TASKS, JOBS):
                yield _at(f"{root}/{name}/{route.path.removeprefix(prefix)}", route, worded)
    if route.path == "/api/workers/{id}/heartbeat":
        for path in HEARTBEAT_PATHS:
            yield _at(path, route, worded)


def _at(path: str, route: Route, worded: Route) -> Route:
    return msgspec.structs.replace(worded, path=path, alias_of=route.path, tags=TAGS)


CHANGES: dict[str, dict[str, object]] = {
    f"POST {JOBS}": {
        "handler": tasks.create_task,
        "request": tasks.TaskBody,
        "example": {"role": "product_resync", "dispensary_id": 123, "scheduled_for": "2025-01-10T06:00:00Z"},
    },
    f"POST {JOBS}/batch": {
        "handler": tasks.create_tasks,
        "request": tasks.TaskBatch,
        "example": [{"role": "product_resync", "dispensary_id": 123}],
    },
    f"POST {JOBS}/enqueue-state": {
        "handler": schedules.enqueue_state,
        "request": schedules.StateCodeBody,
        "example": {"state_code": "AZ"},
    },
    f"GET {JOBS}": {
        "handler": tasks.list_tasks,
        "parameters": tasks.TasksParameters,
        "response": Page[tasks.TaskView],
    },
    f"GET {JOBS}/{{id}}": {"handler": tasks.show_task, "response": tasks.TaskRecord},
    f"GET {JOBS}/counts": {"handler": tasks.count_tasks, "response": tasks.TaskCounts},
    f"POST {JOBS}/recover-stale": {
        "handler": schedules.recover,
        "request": schedules.ThresholdBody,
        "is_body_optional": True,
        "example": {"threshold_minutes": 10},
    },
    f"POST {JOBS}/generate/{{schedule}}": {
        "handler": schedules.generate,
        "request": schedules.BatchesBody,
        "is_body_optional": True,
        "example": {"batches_per_day": 6},
    },
    f"POST {JOBS}/migration/create-resync-tasks": {"is_body_optional": True},
    f"GET {JOBS}/capacity": {"handler": capacity.list_roles, "response": Page[capacity.RoleRecord]},
    f"GET {JOBS}/capacity/{{queue}}": {"handler": capacity.show_role, "response": capacity.RolePlan},
    f"GET {JOBS}/queues/{{queue}}/recent": {
        "handler": tasks.list_recent_tasks,
        "response": Page[tasks.TaskRecord],
    },
    f"GET {JOBS}/keys/{{key}}/active": {"handler": tasks.show_active_tasks, "response": tasks.ActiveTasks},
    "POST /api/workers/{id}/heartbeat": {
        "handler": heartbeat.beat,
        "parameters": NoParameters,
        "request": heartbeat.TaskHeartbeat,
        "example": heartbeat.EXAMPLE,
    },
}
IN_PLACE: dict[str, dict[str, object]] = {
    "GET /api/schedules": {
        "handler": schedules.list_task_schedules,
        "response": Page[schedules.TaskScheduleRecord],
    },
    "GET /api/schedules/{name}": {
        "handler": schedules.show_task_schedule,
        "response": schedules.TaskScheduleRecord,
    },
    "POST /api/schedules": {
        "handler": schedules.create_task_schedule,
        "request": schedules.TaskScheduleBody,
        "response": schedules.TaskScheduleRecord,
        "example": {"name": "discovery", "role": "store_discovery", "interval_hours": 24, "priority": 5},
    },
    "PUT /api/schedules/{name}": {
        "handler": schedules.put_schedule_or_part,
        "request": schedules.TaskScheduleBody,
        "response": schedules.TaskScheduleRecord,
        "summary": "Change a schedule by a part of it",
        "example": {"enabled": False, "interval_hours": 6},
    },
}
"""What is different at addresses that are ours as well."""
