"""The route table: everything that the gateway answers."""

from __future__ import annotations

from leasehold.gateway.resources.capacity.table import CAPACITY_ROUTES
from leasehold.gateway.resources.chains.table import CHAIN_ROUTES
from leasehold.gateway.resources.compat.aliases import aliases_of, worded
from leasehold.gateway.resources.egress.table import EGRESS_ROUTES
from leasehold.gateway.resources.events.table import STREAM_ROUTES
from leasehold.gateway.resources.jobs.failures.table import FAILURE_ROUTES
from leasehold.gateway.resources.jobs.findings.table import FINDING_ROUTES
from leasehold.gateway.resources.jobs.kinds.table import KIND_ROUTES
from leasehold.gateway.resources.jobs.table import JOB_ROUTES
from leasehold.gateway.resources.payloads.table import PAYLOAD_ROUTES
from leasehold.gateway.resources.probes.table import PROBE_ROUTES
from leasehold.gateway.resources.queues.sources.table import SOURCE_ROUTES
from leasehold.gateway.resources.queues.table import QUEUE_ROUTES
from leasehold.gateway.resources.schedules.table import SCHEDULE_ROUTES
from leasehold.gateway.resources.tokens.session_table import SESSION_ROUTES
from leasehold.gateway.resources.tokens.table import TOKEN_ROUTES
from leasehold.gateway.resources.workers.replica_table import REPLICA_ROUTES
from leasehold.gateway.resources.workers.table import WORKER_ROUTES
from leasehold.gateway.routing.documents import with_documents
from leasehold.gateway.routing.routes import Route

OWN_ROUTES: tuple[Route, ...] = (
    *JOB_ROUTES,
    *FAILURE_ROUTES,
    *FINDING_ROUTES,
    *KIND_ROUTES,
    *CAPACITY_ROUTES,
    *CHAIN_ROUTES,
    *QUEUE_ROUTES,
    *SCHEDULE_ROUTES,
    *SOURCE_ROUTES,
    *WORKER_ROUTES,
    *REPLICA_ROUTES,
    *PAYLOAD_ROUTES,
    *EGRESS_ROUTES,
    *TOKEN_ROUTES,
    *SESSION_ROUTES,
    *STREAM_ROUTES,
    *PROBE_ROUTES,
)
ROUTES: tuple[Route, ...] = with_documents((*map(worded, OWN_ROUTES), *aliases_of(OWN_ROUTES)))
"""All of them, with the paths that clients of other systems know, and the document that describes them."""
