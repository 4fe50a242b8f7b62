"""The routes of `/api/findings…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.problems import DATABASE_ERRORS, NOT_READY
from leasehold.gateway.resources.jobs.findings import bodies, checks, handlers
from leasehold.gateway.routing.routes import Route

TAGS = ("upkeep",)

FINDING_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/doctor",
        handler=checks.list_checks,
        summary="Examine the server as `leasehold doctor` does",
        parameters=checks.ChecksParameters,
        response=checks.ChecksBody,
        errors=(NOT_READY, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/findings",
        handler=handlers.list_findings,
        summary="Audit jobs, chains, schedules and partitions",
        parameters=bodies.FindingsParameters,
        response=bodies.FindingsBody,
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/findings/repair",
        handler=handlers.repair_findings,
        summary="Repair what an audit finds",
        request=bodies.RepairBody,
        response=bodies.RepairedBody,
        errors=DATABASE_ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
        example={"findings": ["overdue"], "dry_run": False},
    ),
)
