"""Parameters and bodies of the routes about moving in."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import Name
from leasehold.moving.records import MovedJobs, MovedSchedule, PlanLine, RefilledJobs, SourceRecord

Choice = Annotated[Name | None, Meta(description="Which source; may be left out where there is only one.")]


class SourceParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which source."""

    source: Choice = None


class ResyncBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which rows to make jobs; all, where nothing is said."""

    state_code: Annotated[str, Meta(min_length=1, max_length=100, description="The filter of this name.")] | None = None
    filters: Annotated[dict[str, str], Meta(max_length=20, description="Filters of the mapping, by name.")] = {}


class MigrationStatusBody(msgspec.Struct, frozen=True):
    """The sources with what has moved, what each table of the one that is meant has left, and which jobs `full-migrate` would make
    besides."""

    sources: list[SourceRecord]
    rows: list[PlanLine]
    refill: list[RefilledJobs]


class SchedulesBody(msgspec.Struct, frozen=True):
    """What became of each schedule, and of how many."""

    disabled: int
    schedules: list[MovedSchedule]


class EndedJobsBody(msgspec.Struct, frozen=True):
    """How many jobs of the source were cancelled there, by table."""

    cancelled: int
    tables: list[MovedJobs]


class ResyncedBody(msgspec.Struct, frozen=True):
    """How many jobs were made, by kind."""

    created: int
    kinds: list[RefilledJobs]
