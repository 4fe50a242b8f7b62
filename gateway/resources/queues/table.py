"""The routes of `/api/queues…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import DATABASE_ERRORS, WRONG_STATE
from leasehold.gateway.resources.queues import bodies, handlers
from leasehold.gateway.routing.routes import Route
from leasehold.records.queues import LimitRecord, QueueRecord

TAGS = ("queues",)

QUEUE_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/queues",
        handler=handlers.list_queues,
        summary="List the queues",
        response=Page[QueueRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/queues/{queue}/pause",
        handler=handlers.pause_queue,
        summary="Claim nothing more from a queue",
        parameters=bodies.PauseParameters,
        response=bodies.PausedBody,
        errors=DATABASE_ERRORS,
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/queues/{queue}/resume",
        handler=handlers.resume_queue,
        summary="Claim from a paused queue again",
        parameters=bodies.QueueParameters,
        response=bodies.PausedBody,
        errors=DATABASE_ERRORS,
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="PUT",
        path="/api/queues/{queue}/ageing",
        handler=handlers.set_ageing,
        summary="Have waiting jobs gain priority",
        parameters=bodies.QueueParameters,
        request=bodies.AgeingBody,
        response=bodies.AgedBody,
        errors=DATABASE_ERRORS,
        scope=Scope.OPERATE,
        tags=TAGS,
        example={"every": 300},
    ),
    Route(
        method="GET",
        path="/api/queues/{queue}/rollups",
        handler=handlers.list_rollups,
        summary="Show what happened in a queue minute by minute",
        parameters=bodies.RollupParameters,
        response=bodies.RollupsBody,
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/queues/{queue}/limits",
        handler=handlers.list_limits,
        summary="List the limits of a queue",
        parameters=bodies.QueueParameters,
        response=Page[LimitRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="PUT",
        path="/api/queues/{queue}/limits",
        handler=handlers.set_limit,
        summary="Limit a queue or its key groups",
        parameters=bodies.QueueParameters,
        request=bodies.LimitBody,
        response=bodies.LimitedBody,
        errors=(WRONG_STATE, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
        example={"key_group": "*", "max_running": 2, "rate": 0.5},
    ),
    Route(
        method="DELETE",
        path="/api/queues/{queue}/limits",
        handler=handlers.drop_limit,
        summary="Take a limit away",
        parameters=bodies.GroupParameters,
        response=bodies.LimitedBody,
        errors=(WRONG_STATE, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
)
