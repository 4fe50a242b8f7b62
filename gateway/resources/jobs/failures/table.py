"""The routes of `/api/failures…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import DATABASE_ERRORS, INVALID_INPUT
from leasehold.gateway.resources.jobs.bulk_bodies import BulkBody
from leasehold.gateway.resources.jobs.failures import bodies, handlers
from leasehold.gateway.routing.routes import Route
from leasehold.records.measures import FailureGroup

TAGS = ("failures",)
ERRORS = (INVALID_INPUT, *DATABASE_ERRORS)

FAILURE_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/failures",
        handler=handlers.list_failures,
        summary="Group failures by fingerprint",
        parameters=bodies.FailuresParameters,
        response=Page[FailureGroup],
        errors=ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/failures/{fingerprint}",
        handler=handlers.show_failures,
        summary="Show one group of failures",
        parameters=bodies.FailureGroupParameters,
        response=bodies.FailureGroupBody,
        errors=ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/failures/{fingerprint}/retry",
        handler=handlers.retry_failures,
        summary="Run the failed jobs of a group once more",
        parameters=bodies.FingerprintParameters,
        request=bodies.RetryBody,
        response=BulkBody,
        errors=ERRORS,
        scope=Scope.OPERATE,
        tags=TAGS,
        example={"limit": 100, "dry_run": False},
    ),
)
