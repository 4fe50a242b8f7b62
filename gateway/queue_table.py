"""The routes of `/api/queues…`."""

from __future__ import annotations

from leasehold.gateway import queues
from leasehold.gateway.access import Scope
from leasehold.gateway.pages import Page
from leasehold.gateway.problems import DATABASE_ERRORS, WRONG_STATE
from leasehold.gateway.queue_bodies import (
    AgedBody,
    AgeingBody,
    GroupParameters,
    LimitBody,
    LimitedBody,
    PausedBody,
    PauseParameters,
    QueueParameters,
    RollupParameters,
    RollupsBody,
)
from leasehold.gateway.routes import Route
from leasehold.records import LimitRecord, QueueRecord

TAGS = ("queues",)

QUEUE_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/queues",
        handler=queues.list_queues,
        summary="List the queues",
        response=Page[QueueRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/queues/{queue}/pause",
        handler=queues.pause_queue,
        summary="Claim nothing more from a queue",
        parameters=PauseParameters,
        response=PausedBody,
        errors=DATABASE_ERRORS,
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/queues/{queue}/resume",
        handler=queues.resume_queue,
        summary="Claim from a paused queue again",
        parameters=QueueParameters,
        response=PausedBody,
        errors=DATABASE_ERRORS,
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="PUT",
        path="/api/queues/{queue}/ageing",
        handler=queues.set_ageing,
        summary="Have waiting jobs gain priority",
        parameters=QueueParameters,
        request=AgeingBody,
        response=AgedBody,
        errors=DATABASE_ERRORS,
        scope=Scope.OPERATE,
        tags=TAGS,
        example={"every": 300},
    ),
    Route(
        method="GET",
        path="/api/queues/{queue}/rollups",
        handler=queues.list_rollups,
        summary="Show what happened in a queue minute by minute",
        parameters=RollupParameters,
        response=RollupsBody,
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/queues/{queue}/limits",
        handler=queues.list_limits,
        summary="List the limits of a queue",
        parameters=QueueParameters,
        response=Page[LimitRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="PUT",
        path="/api/queues/{queue}/limits",
        handler=queues.set_limit,
        summary="Limit a queue or its key groups",
        parameters=QueueParameters,
        request=LimitBody,
        response=LimitedBody,
        errors=(WRONG_STATE, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
        example={"key_group": "*", "max_running": 2, "rate": 0.5},
    ),
    Route(
        method="DELETE",
        path="/api/queues/{queue}/limits",
        handler=queues.drop_limit,
        summary="Take a limit away",
        parameters=GroupParameters,
        response=LimitedBody,
        errors=(WRONG_STATE, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
)
