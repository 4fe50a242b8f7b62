"""The table of the paths that clients of other systems know: `/api/tasks…`, `/api/job-queue/…` and a few more.

Most are another path of one of our routes with the same handler. Where these clients speak in words of their own, `CHANGES` says
what is different.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from leasehold.gateway.compat import capacity, heartbeat, schedules, tasks
from leasehold.gateway.compat import capacity as capacity_bodies
from leasehold.gateway.compat import heartbeat as heartbeat_body
from leasehold.gateway.compat import schedules as schedule_body
from leasehold.gateway.compat import tasks as task_bodies
from leasehold.gateway.compat.schedules import (
    BatchesBody,
    StateCodeBody,
    ThresholdBody,
    enqueue_state,
    generate,
    recover,
)
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
    worded = _in_their_words(route)
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


def _in_their_words(route: Route) -> Route:
    """The route with bodies, parameters and answers of theirs, where they have any."""
    return msgspec.structs.replace(route, **CHANGES.get(f"{route.method} {route.path}", {}))


CHANGES: dict[str, dict[str, object]] = {
    f"POST {JOBS}": {
        "handler": tasks.create_task,
        "request": task_bodies.TaskBody,
        "example": {"role": "product_resync", "dispensary_id": 123, "scheduled_for": "2025-01-10T06:00:00Z"},
    },
    f"POST {JOBS}/batch": {
        "handler": tasks.create_tasks,
        "request": task_bodies.TaskBatch,
        "example": [{"role": "product_resync", "dispensary_id": 123}],
    },
    f"POST {JOBS}/enqueue-state": {
        "handler": enqueue_state,
        "request": StateCodeBody,
        "example": {"state_code": "AZ"},
    },
    f"GET {JOBS}": {
        "handler": tasks.list_tasks,
        "parameters": task_bodies.TasksParameters,
        "response": Page[task_bodies.TaskView],
    },
    f"GET {JOBS}/{{id}}": {"handler": tasks.show_task, "response": task_bodies.TaskRecord},
    f"GET {JOBS}/counts": {"handler": tasks.count_tasks, "response": task_bodies.TaskCounts},
    f"POST {JOBS}/recover-stale": {
        "handler": recover,
        "request": ThresholdBody,
        "is_body_optional": True,
        "example": {"threshold_minutes": 10},
    },
    f"POST {JOBS}/generate/{{schedule}}": {
        "handler": generate,
        "request": BatchesBody,
        "is_body_optional": True,
        "example": {"batches_per_day": 6},
    },
    f"POST {JOBS}/migration/create-resync-tasks": {"is_body_optional": True},
    f"GET {JOBS}/capacity": {"handler": capacity.list_roles, "response": Page[capacity_bodies.RoleRecord]},
    f"GET {JOBS}/capacity/{{queue}}": {"handler": capacity.show_role, "response": capacity_bodies.RolePlan},
    f"GET {JOBS}/queues/{{queue}}/recent": {
        "handler": tasks.list_recent_tasks,
        "response": Page[task_bodies.TaskRecord],
    },
    f"GET {JOBS}/keys/{{key}}/active": {"handler": tasks.show_active_tasks, "response": task_bodies.ActiveTasks},
    "POST /api/workers/{id}/heartbeat": {
        "handler": heartbeat.beat,
        "parameters": NoParameters,
        "request": heartbeat_body.TaskHeartbeat,
        "example": heartbeat_body.EXAMPLE,
    },
}
IN_PLACE: dict[str, dict[str, object]] = {
    "GET /api/schedules": {
        "handler": schedules.list_task_schedules,
        "response": Page[schedule_body.TaskScheduleRecord],
    },
    "GET /api/schedules/{name}": {
        "handler": schedules.show_task_schedule,
        "response": schedule_body.TaskScheduleRecord,
    },
    "POST /api/schedules": {
        "handler": schedules.create_task_schedule,
        "request": schedule_body.TaskScheduleBody,
        "response": schedule_body.TaskScheduleRecord,
        "example": {"name": "discovery", "role": "store_discovery", "interval_hours": 24, "priority": 5},
    },
    "PUT /api/schedules/{name}": {
        "handler": schedules.put_schedule_or_part,
        "request": schedule_body.TaskScheduleBody,
        "response": schedule_body.TaskScheduleRecord,
        "summary": "Change a schedule by a part of it",
        "example": {"enabled": False, "interval_hours": 6},
    },
}
"""What is different at addresses that are ours as well."""
