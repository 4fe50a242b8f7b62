"""The routes about capacity, and about the jobs of a queue or a key."""

from __future__ import annotations

from leasehold.capacity.hindsight import Hindsight
from leasehold.capacity.records import CapacityPlan, CapacityRecord
from leasehold.capacity.what_if import WhatIf
from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import DATABASE_ERRORS, INVALID_INPUT, UNKNOWN_QUEUE
from leasehold.gateway.resources.capacity import bodies, handlers, overview
from leasehold.gateway.routing.routes import Route
from leasehold.records.jobs import JobRecord

ERRORS = (INVALID_INPUT, *DATABASE_ERRORS)

CAPACITY_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/overview",
        handler=overview.show_overview,
        summary="Show how everything stands",
        response=bodies.OverviewBody,
        errors=DATABASE_ERRORS,
        shared_seconds=2.0,
        scope=Scope.READ,
        tags=("capacity",),
    ),
    Route(
        method="GET",
        path="/api/troubles",
        handler=overview.show_troubles,
        summary="Show what fails, what is stuck and what has become slow",
        response=bodies.TroublesBody,
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=("capacity",),
    ),
    Route(
        method="GET",
        path="/api/jobs/capacity",
        handler=handlers.list_capacity,
        summary="Show what each queue has, does and can do",
        response=Page[CapacityRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=("capacity",),
    ),
    Route(
        method="GET",
        path="/api/jobs/capacity/{queue}",
        handler=handlers.show_capacity,
        summary="Show what a queue needs and is heading for",
        parameters=bodies.CapacityParameters,
        response=CapacityPlan,
        errors=(UNKNOWN_QUEUE, *ERRORS),
        scope=Scope.READ,
        tags=("capacity",),
    ),
    Route(
        method="GET",
        path="/api/jobs/capacity/{queue}/what-if",
        handler=handlers.show_what_if,
        summary="Show what becomes of a queue with other workers and another load",
        parameters=bodies.WhatIfParameters,
        response=WhatIf,
        errors=(UNKNOWN_QUEUE, *ERRORS),
        scope=Scope.READ,
        tags=("capacity",),
    ),
    Route(
        method="GET",
        path="/api/jobs/capacity/{queue}/hindsight",
        handler=handlers.show_hindsight,
        summary="Show the forecast against what happened",
        parameters=bodies.HindsightParameters,
        response=Hindsight,
        errors=(UNKNOWN_QUEUE, *ERRORS),
        scope=Scope.READ,
        tags=("capacity",),
    ),
    Route(
        method="GET",
        path="/api/jobs/capacity/{queue}/desired",
        handler=handlers.show_desired_workers,
        summary="Show how many workers a queue should have",
        parameters=bodies.DesiredParameters,
        response=bodies.DesiredBody,
        errors=ERRORS,
        scope=Scope.READ,
        tags=("capacity",),
    ),
    Route(
        method="GET",
        path="/api/jobs/queues/{queue}/last-completion",
        handler=handlers.show_last_completion,
        summary="Show when a job of a queue completed last",
        parameters=bodies.LastCompletionParameters,
        response=bodies.LastCompletionBody,
        errors=ERRORS,
        scope=Scope.READ,
        tags=("queues",),
    ),
    Route(
        method="GET",
        path="/api/jobs/queues/{queue}/recent",
        handler=handlers.list_recent_jobs,
        summary="List the jobs of a queue that finished last",
        parameters=bodies.RecentParameters,
        response=Page[JobRecord],
        errors=ERRORS,
        scope=Scope.READ,
        tags=("queues",),
    ),
    Route(
        method="GET",
        path="/api/jobs/keys/{key}/active",
        handler=handlers.list_key_jobs,
        summary="List the jobs of a key that run or may run next",
        parameters=bodies.KeyParameters,
        response=Page[JobRecord],
        errors=ERRORS,
        scope=Scope.READ,
        tags=("queues",),
    ),
)
