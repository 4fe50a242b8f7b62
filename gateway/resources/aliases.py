"""Paths that clients of other systems know: task workers call a job a task, and enqueue at `/api/job-queue`."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from leasehold.gateway.routing.routes import Route

JOBS = "/api/jobs"
TASKS = "/api/tasks"
QUEUE_PATHS = {
    f"{JOBS}": "/api/job-queue/enqueue",
    f"{JOBS}/batch": "/api/job-queue/enqueue-batch",
    f"{JOBS}/enqueue-state": "/api/job-queue/enqueue-state",
}


def aliases_of(routes: Iterable[Route]) -> tuple[Route, ...]:
    """A further row for each other path at which a route answers: the same handler, marked as an alias."""
    return tuple(alias for route in routes for alias in _aliases(route))


def _aliases(route: Route) -> Iterable[Route]:
    if route.path == JOBS or route.path.startswith(f"{JOBS}/"):
        yield _at(TASKS + route.path.removeprefix(JOBS), route)
    if route.method == "POST" and route.path in QUEUE_PATHS:
        yield _at(QUEUE_PATHS[route.path], route)


def _at(path: str, route: Route) -> Route:
    return msgspec.structs.replace(route, path=path, alias_of=route.path, tags=("aliases",))
