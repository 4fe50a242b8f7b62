"""The parameters and bodies of `/api/failures…`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import Name
from leasehold.gateway.resources.jobs.bodies import DryRun, Time
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
