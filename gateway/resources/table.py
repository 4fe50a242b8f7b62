"""The route table: everything that the gateway answers."""

from __future__ import annotations

from leasehold.gateway.resources.aliases import aliases_of
from leasehold.gateway.resources.capacity.table import CAPACITY_ROUTES
from leasehold.gateway.resources.chains.table import CHAIN_ROUTES
from leasehold.gateway.resources.events.table import STREAM_ROUTES
from leasehold.gateway.resources.jobs.table import JOB_ROUTES
from leasehold.gateway.resources.probes.table import PROBE_ROUTES
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
    *PROBE_ROUTES,
)
ROUTES: tuple[Route, ...] = with_documents((*OWN_ROUTES, *aliases_of(OWN_ROUTES)))
"""All of them, with the paths that clients of other systems know, and the document that describes them."""
