"""The handlers of `/api/failures…`."""

from __future__ import annotations

from leasehold.gateway.http.pages import Page
from leasehold.gateway.resources.jobs.bulk import report
from leasehold.gateway.resources.jobs.bulk_bodies import BulkBody
from leasehold.gateway.resources.jobs.failures.bodies import (
    FailureGroupBody,
    FailureGroupParameters,
    FailuresParameters,
    FingerprintParameters,
    RetryBody,
)
from leasehold.gateway.routing.routes import Call
from leasehold.records.measures import FailureGroup


async def list_failures(call: Call[FailuresParameters, None]) -> Page[FailureGroup]:
    """The failures of some hours, grouped by kind, type of the error and place; the group that failed last comes first.

    The newest 2000 failed attempts and 2000 failed jobs are looked at, whatever the tables hold; `is_partial` tells that
    there were more.
    """
    asked = call.parameters
    found = await call.services.client.metrics.failure_groups(
        asked.since, asked.until, kind=asked.kind, queue=asked.queue, most=asked.limit
    )
    return Page(found)


async def show_failures(call: Call[FailureGroupParameters, None]) -> FailureGroupBody:
    """One group, and the newest of its failures."""
    asked = call.parameters
    metrics = call.services.client.metrics
    groups = await metrics.failure_groups(asked.since, asked.until, fingerprint=asked.fingerprint)
    newest = await metrics.group_failures(asked.fingerprint, asked.since, asked.until, page_size=asked.limit)
    return FailureGroupBody(group=groups[0] if groups else None, failures=newest)


async def retry_failures(call: Call[FingerprintParameters, RetryBody]) -> BulkBody:
    """Runs the failed jobs of a group once more. Unless `dry_run` is false, it only reports what it would do."""
    body = call.body
    changes = await call.services.client.jobs.retry_failures(
        call.parameters.fingerprint, since=body.since, until=body.until, limit=body.limit, dry_run=body.dry_run
    )
    return report(changes, body.limit, body.dry_run)
