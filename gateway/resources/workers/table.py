"""The routes of `/api/workers…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import (
    DATABASE_ERRORS,
    INVALID_INPUT,
    UNKNOWN_COMMAND,
    UNKNOWN_WORKER,
    WRONG_STATE,
)
from leasehold.gateway.resources.workers import bodies, handlers
from leasehold.gateway.routing.routes import Route, Success
from leasehold.records.workers import CommandRecord, LeaseRecord, WorkerRecord

TAGS = ("workers",)
# Invalid: the beginning of a name may be that of several workers.
ONE = (UNKNOWN_WORKER, INVALID_INPUT, *DATABASE_ERRORS)

WORKER_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/workers",
        handler=handlers.list_workers,
        summary="List the workers",
        parameters=bodies.WorkersParameters,
        response=Page[WorkerRecord],
        errors=(INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/leases",
        handler=handlers.list_leases,
        summary="List the leases that workers hold",
        parameters=bodies.LeasesParameters,
        response=Page[LeaseRecord],
        errors=ONE,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/workers/{id}",
        handler=handlers.show_worker,
        summary="Show one worker",
        parameters=bodies.WorkerParameters,
        response=WorkerRecord,
        errors=ONE,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/workers/{id}/heartbeat",
        handler=handlers.heartbeat,
        summary="Say that a worker lives, and hear what it is told to do",
        parameters=bodies.WorkerIdParameters,
        request=bodies.HeartbeatBody,
        response=bodies.HeartbeatAnswer,
        example={
            "incarnation": "5f0c6a3e-8a1e-4d7b-9a53-0f0c5f3d9b10",
            "queues": ["mail"],
            "kinds": ["send"],
            "slots": 3,
        },
        errors=(INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/workers/{id}/commands",
        handler=handlers.list_commands,
        summary="List the commands to a worker, newest first",
        parameters=bodies.CommandsParameters,
        response=Page[CommandRecord],
        errors=ONE,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/workers/{id}/commands",
        handler=handlers.command_worker,
        summary="Tell a worker what to do",
        parameters=bodies.WorkerParameters,
        request=bodies.CommandBody,
        response=CommandRecord,
        status=202,
        headers=(handlers.PREFER,),
        successes=(Success(200, "Asked to wait: it is done, or has failed.", CommandRecord),),
        example={"command": "set_concurrency", "args": {"slots": 5}},
        errors=(*ONE, WRONG_STATE),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/workers/{id}/commands/{command_id}",
        handler=handlers.show_command,
        summary="Show how a command stands",
        parameters=bodies.CommandParameters,
        response=CommandRecord,
        errors=(UNKNOWN_WORKER, UNKNOWN_COMMAND, INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
)
