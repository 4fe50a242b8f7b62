"""`/api/failures…`: failed jobs in groups of one cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import DryRun, Name, Page, Time
from leasehold.gateway.nouns.jobs_bulk import BulkBody, report
from leasehold.gateway.routing.routes import Call, Routes
from leasehold.records.measures import FailureGroup, GroupFailure

Since = Annotated[Time, Meta(description="From then on; a day before `until` where it is left out.")]
Until = Annotated[Time, Meta(description="Before then; now where it is left out.")]
Fingerprint = Annotated[str, Meta(pattern="^[0-9a-f]{16}$", description="Of the group.", examples=["9f86d081884c7d65"])]


class FailuresParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which failures."""

    since: Since | None = None
    until: Until | None = None
    kind: Name | None = None
    queue: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many groups at the most.")] = 100


class FailureGroupParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which group, and how much of it."""

    fingerprint: Fingerprint
    since: Since | None = None
    until: Until | None = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many of its failures at the most.")] = 50


class FingerprintParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which group."""

    fingerprint: Fingerprint


class FailureGroupBody(msgspec.Struct, frozen=True, kw_only=True):
    """A group, and its newest failures. `group` is null where there were none in the time."""

    group: FailureGroup | None
    failures: Sequence[GroupFailure]


class RetryBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the failed jobs of a group to run once more."""

    since: Since | None = None
    until: Until | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many, those that failed last.")] = 1000
    dry_run: DryRun = True


routes = Routes("failures")


@routes("GET", "/api/failures", "Group failures by fingerprint", scope=Scope.READ)
async def list_failures(call: Call[FailuresParameters, None]) -> Page[FailureGroup]:
    """The failures of some hours, grouped by kind, type of the error and place; the group that failed last comes first.

    The newest 2000 failed attempts and 2000 failed jobs are looked at, whatever the tables hold; `is_partial` tells that
    there were more.
    `trend` says which way a group goes.
    """
    asked = call.parameters
    found = await call.services.client.metrics.failure_groups(
        asked.since, asked.until, kind=asked.kind, queue=asked.queue, most=asked.limit
    )
    return Page(found)


@routes("GET", "/api/failures/{fingerprint}", "Show one group of failures", scope=Scope.READ)
async def show_failures(call: Call[FailureGroupParameters, None]) -> FailureGroupBody:
    """One group, and the newest of its failures."""
    asked = call.parameters
    metrics = call.services.client.metrics
    groups = await metrics.failure_groups(asked.since, asked.until, fingerprint=asked.fingerprint)
    newest = await metrics.group_failures(asked.fingerprint, asked.since, asked.until, page_size=asked.limit)
    return FailureGroupBody(group=groups[0] if groups else None, failures=newest)


@routes(
    "POST",
    "/api/failures/{fingerprint}/retry",
    "Run the failed jobs of a group once more",
    scope=Scope.OPERATE,
    example={"limit": 100, "dry_run": False},
)
async def retry_failures(call: Call[FingerprintParameters, RetryBody]) -> BulkBody:
    """Runs the failed jobs of a group once more. Unless `dry_run` is false, it only reports what it would do."""
    body = call.body
    fields = msgspec.structs.asdict(body)
    changes = await call.services.client.jobs.retry_failures(call.parameters.fingerprint, **fields)
    return report(changes, body.limit, body.dry_run)
