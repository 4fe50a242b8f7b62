"""The routes of the probes and of `/metrics`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.problems import METRICS_MISSING, NOT_READY
from leasehold.gateway.resources.probes import bodies, handlers, metrics
from leasehold.gateway.routing.routes import Route

TAGS = ("health",)

PROBE_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/metrics",
        handler=metrics.show_metrics,
        summary="Show metrics for Prometheus",
        response=str,
        media_type=metrics.TEXT,
        errors=(METRICS_MISSING,),
        scope=Scope.READ,
        outlasts_database=True,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/livez",
        handler=handlers.show_life,
        summary="Whether the process lives",
        parameters=bodies.HealthParameters,
        response=bodies.HealthBody,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/readyz",
        handler=handlers.show_readiness,
        summary="Whether requests can be served",
        parameters=bodies.HealthParameters,
        response=bodies.HealthBody,
        errors=(NOT_READY,),
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/startupz",
        handler=handlers.show_startup,
        summary="Whether requests could be served once",
        parameters=bodies.HealthParameters,
        response=bodies.HealthBody,
        errors=(NOT_READY,),
        tags=TAGS,
    ),
)
