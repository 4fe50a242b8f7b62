"""The routes of `/api/chains…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import (
    ARGS_TOO_LARGE,
    DATABASE_ERRORS,
    ENQUEUE_ERRORS,
    IDEMPOTENCY_MISMATCH,
    INVALID_ARGS,
    INVALID_INPUT,
    OVERLOADED,
    ROW_LOCKED,
    UNIQUE_CONFLICT,
    UNKNOWN_JOB,
    UNKNOWN_KIND,
    WRONG_STATE,
)
from leasehold.gateway.resources.chains import bodies, handlers
from leasehold.gateway.resources.jobs import enqueue_bodies, enqueueing
from leasehold.gateway.resources.jobs.bodies import JobParameters
from leasehold.gateway.resources.jobs.table import WAITED
from leasehold.gateway.routing.routes import Route
from leasehold.records.chains import BlockerRecord, ChainGraph, ChainRecord
from leasehold.records.jobs import JobRecord

TAGS = ("chains",)

CHAIN_ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/chains",
        handler=enqueueing.enqueue_job,
        summary="Start a chain with its first job",
        request=enqueue_bodies.JobBody,
        response=enqueue_bodies.EnqueuedBody,
        makes_a_job=True,
        headers=(enqueueing.IDEMPOTENCY_KEY, enqueueing.PREFER),
        status=201,
        successes=WAITED,
        errors=(*ENQUEUE_ERRORS, ARGS_TOO_LARGE, UNKNOWN_JOB, OVERLOADED, IDEMPOTENCY_MISMATCH),
        scope=Scope.ENQUEUE,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/chains",
        handler=handlers.list_chains,
        summary="List chains, newest first",
        parameters=bodies.ChainsParameters,
        response=Page[ChainRecord],
        errors=(INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/chains/{id}",
        handler=handlers.show_chain,
        summary="Show how one chain stands",
        parameters=bodies.ChainParameters,
        response=ChainRecord,
        errors=(UNKNOWN_JOB, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/chains/{id}/jobs",
        handler=handlers.list_chain_jobs,
        summary="List the jobs of a chain in their order",
        parameters=bodies.ChainJobsParameters,
        response=Page[JobRecord],
        errors=(UNKNOWN_JOB, INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/chains/{id}/graph",
        handler=handlers.show_graph,
        summary="Show a chain with all that it has to do with",
        parameters=bodies.GraphParameters,
        response=ChainGraph,
        errors=(UNKNOWN_JOB, INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/jobs/{id}/blockers",
        handler=handlers.list_blockers,
        summary="List the chains that a job waits or waited for",
        parameters=JobParameters,
        response=Page[BlockerRecord],
        errors=(UNKNOWN_JOB, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/chains/{id}/wait",
        handler=handlers.wait_for_chain,
        summary="Wait for the end of a chain, up to a minute",
        parameters=bodies.WaitParameters,
        response=ChainRecord,
        errors=(UNKNOWN_JOB, INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/chains/{id}/complete",
        handler=handlers.complete_chain,
        summary="Complete the open job of a chain without a worker",
        parameters=bodies.ChainParameters,
        request=bodies.CompletionBody,
        response=bodies.CompletedBody,
        errors=(
            UNKNOWN_JOB,
            WRONG_STATE,
            INVALID_ARGS,
            ARGS_TOO_LARGE,
            UNKNOWN_KIND,
            UNIQUE_CONFLICT,
            *DATABASE_ERRORS,
        ),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/chains/{id}/cancel",
        handler=handlers.cancel_chain,
        summary="Cancel the open job of a chain",
        parameters=bodies.CancelParameters,
        response=bodies.CancelledBody,
        errors=(UNKNOWN_JOB, WRONG_STATE, ROW_LOCKED, INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
    Route(
        method="DELETE",
        path="/api/chains/{id}",
        handler=handlers.delete_chain,
        summary="Remove a chain with all its jobs",
        parameters=bodies.DeleteParameters,
        response=bodies.DeletedBody,
        errors=(UNKNOWN_JOB, WRONG_STATE, INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
)
