"""The route table: everything that the gateway answers."""

from __future__ import annotations

from leasehold.gateway.compat.aliases import aliases_of, worded
from leasehold.gateway.nouns import (
    capacity,
    chains,
    egress,
    events,
    failures,
    findings,
    jobs,
    jobs_bulk,
    jobs_enqueue,
    kinds,
    payloads,
    payloads_content,
    probes,
    queues,
    replicas,
    schedule_history,
    schedules,
    sessions,
    sources,
    tokens,
    workers,
)
from leasehold.gateway.routing.documents import with_documents
from leasehold.gateway.routing.routes import Route

NOUNS = (
    jobs_enqueue, jobs, jobs_bulk, failures, findings, kinds, capacity, chains, queues, schedules, schedule_history,
    sources, workers, replicas, payloads, payloads_content, egress, tokens, sessions, events, probes,
)  # fmt: skip
OWN_ROUTES: tuple[Route, ...] = tuple(route for noun in NOUNS for route in noun.routes)
ROUTES: tuple[Route, ...] = with_documents((*map(worded, OWN_ROUTES), *aliases_of(OWN_ROUTES)))
"""All of them, with the paths that clients of other systems know, and the document that describes them."""
