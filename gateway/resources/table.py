"""The route table: everything that the gateway answers."""

from __future__ import annotations

from leasehold.gateway.http.bodies import HealthBody, HealthParameters
from leasehold.gateway.http.problems import NOT_READY
from leasehold.gateway.resources.aliases import aliases_of
from leasehold.gateway.resources.capacity.table import CAPACITY_ROUTES
from leasehold.gateway.resources.chains.table import CHAIN_ROUTES
from leasehold.gateway.resources.events.table import STREAM_ROUTES
from leasehold.gateway.resources.jobs.table import JOB_ROUTES
from leasehold.gateway.resources.probes import health
from leasehold.gateway.resources.probes.metrics import METRICS_ROUTES
from leasehold.gateway.resources.queues.table import QUEUE_ROUTES
from leasehold.gateway.resources.schedules.table import SCHEDULE_ROUTES
from leasehold.gateway.resources.tokens.table import TOKEN_ROUTES
from leasehold.gateway.resources.workers.table import WORKER_ROUTES
from leasehold.gateway.routing.documents import with_documents
from leasehold.gateway.routing.routes import Route

OWN_ROUTES: tuple[Route, ...] = (
    *JOB_ROUTES,
    *CAPACITY_ROUTES,
    *CHAIN_ROUTES,
    *QUEUE_ROUTES,
    *SCHEDULE_ROUTES,
    *WORKER_ROUTES,
    *TOKEN_ROUTES,
    *STREAM_ROUTES,
    *METRICS_ROUTES,
    Route(
        method="GET",
        path="/livez",
        handler=health.show_life,
        summary="Whether the process lives",
        parameters=HealthParameters,
        response=HealthBody,
        tags=("health",),
    ),
    Route(
        method="GET",
        path="/readyz",
        handler=health.show_readiness,
        summary="Whether requests can be served",
        parameters=HealthParameters,
        response=HealthBody,
        errors=(NOT_READY,),
        tags=("health",),
    ),
    Route(
        method="GET",
        path="/startupz",
        handler=health.show_startup,
        summary="Whether requests could be served once",
        parameters=HealthParameters,
        response=HealthBody,
        errors=(NOT_READY,),
        tags=("health",),
    ),
)
ROUTES: tuple[Route, ...] = with_documents((*OWN_ROUTES, *aliases_of(OWN_ROUTES)))
"""All of them, with the paths that clients of other systems know, and the document that describes them."""
