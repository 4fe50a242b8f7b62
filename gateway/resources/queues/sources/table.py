"""The routes about moving in."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.problems import DATABASE_ERRORS, INVALID_INPUT, UNKNOWN_SOURCE, WRONG_STATE
from leasehold.gateway.resources.queues.sources import bodies, handlers
from leasehold.gateway.routing.routes import Route
from leasehold.moving.records import MoveReport

TAGS = ("moving in",)
ERRORS = (UNKNOWN_SOURCE, INVALID_INPUT, *DATABASE_ERRORS)
PATH = "/api/jobs/migration"

SOURCE_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path=f"{PATH}/status",
        handler=handlers.show_status,
        summary="Compare another queue with this one",
        parameters=bodies.SourceParameters,
        response=bodies.MigrationStatusBody,
        errors=ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path=f"{PATH}/disable-old-schedules",
        handler=handlers.disable_schedules,
        summary="Disable the schedules of another queue",
        parameters=bodies.SourceParameters,
        response=bodies.SchedulesBody,
        errors=ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path=f"{PATH}/cancel-pending-crawl-jobs",
        handler=handlers.cancel_jobs,
        summary="Cancel the pending jobs of another queue",
        parameters=bodies.SourceParameters,
        response=bodies.EndedJobsBody,
        errors=(WRONG_STATE, *ERRORS),
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path=f"{PATH}/create-resync-tasks",
        handler=handlers.create_resync_jobs,
        summary="Make a job for each row that a mapping names",
        parameters=bodies.SourceParameters,
        request=bodies.ResyncBody,
        response=bodies.ResyncedBody,
        errors=ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
        example={"state_code": "AZ"},
    ),
    Route(
        method="POST",
        path=f"{PATH}/full-migrate",
        handler=handlers.migrate,
        summary="Move another queue in as a whole",
        parameters=bodies.SourceParameters,
        response=MoveReport,
        errors=(WRONG_STATE, *ERRORS),
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
)
