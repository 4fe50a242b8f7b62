"""The route table: everything that the gateway answers."""

from __future__ import annotations

from leasehold.gateway import health, jobs
from leasehold.gateway.access import Scope
from leasehold.gateway.bodies import (
    CountsBody,
    EnqueuedBody,
    HealthBody,
    HealthParameters,
    JobBatch,
    JobBody,
    JobParameters,
    LogParameters,
)
from leasehold.gateway.chain_table import CHAIN_ROUTES
from leasehold.gateway.problems import (
    DATABASE_ERRORS,
    ENQUEUE_ERRORS,
    NOT_READY,
    OVERLOADED,
    UNKNOWN_JOB,
)
from leasehold.gateway.routes import Route
from leasehold.records import Explanation, JobProgress, JobRecord, LogLine

ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/jobs",
        handler=jobs.enqueue_job,
        summary="Enqueue one job",
        request=JobBody,
        response=EnqueuedBody,
        headers=(jobs.IDEMPOTENCY_KEY,),
        status=201,
        errors=(*ENQUEUE_ERRORS, OVERLOADED),
        scope=Scope.ENQUEUE,
        tags=("jobs",),
    ),
    Route(
        method="POST",
        path="/api/jobs/batch",
        handler=jobs.enqueue_batch,
        summary="Enqueue up to 1000 jobs, all or none",
        request=JobBatch,
        response=list[EnqueuedBody],
        status=201,
        errors=ENQUEUE_ERRORS,
        scope=Scope.ENQUEUE,
        tags=("jobs",),
    ),
    Route(
        method="GET",
        path="/api/jobs/counts",
        handler=jobs.count_jobs,
        summary="Count jobs by queue and state",
        response=CountsBody,
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=("jobs",),
    ),
    Route(
        method="GET",
        path="/api/jobs/{id}",
        handler=jobs.show_job,
        summary="Show one job",
        parameters=JobParameters,
        response=JobRecord,
        errors=(UNKNOWN_JOB, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=("jobs",),
    ),
    Route(
        method="GET",
        path="/api/jobs/{id}/why",
        handler=jobs.explain_job,
        summary="Explain why a job is not running",
        parameters=JobParameters,
        response=list[Explanation],
        errors=(UNKNOWN_JOB, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=("jobs",),
    ),
    Route(
        method="GET",
        path="/api/jobs/{id}/progress",
        handler=jobs.show_progress,
        summary="Show how far a job has come",
        parameters=JobParameters,
        response=JobProgress | None,
        errors=(UNKNOWN_JOB, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=("jobs",),
    ),
    Route(
        method="GET",
        path="/api/jobs/{id}/logs",
        handler=jobs.show_logs,
        summary="List what the handlers of a job have logged",
        parameters=LogParameters,
        response=list[LogLine],
        errors=(UNKNOWN_JOB, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=("jobs",),
    ),
    *CHAIN_ROUTES,
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
)
