"""Request and response bodies of `/api/schedules…`."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import Integer, Key, Name
from leasehold.gateway.http.pages import Cursor, Limit
from leasehold.gateway.resources.jobs.bodies import DryRun
from leasehold.jobs.producing.unique import Unique
from leasehold.schedules.records import NextTick, TickOutcome

ScheduleName = Annotated[str, Meta(min_length=1, max_length=200, description="Name of a schedule, or its id.")]
Revision = Annotated[int, Meta(ge=1, le=2**63 - 1, description="Refuse, if it has another one by now.")]
Count = Annotated[int, Meta(ge=1, le=366, description="How many ticks.")]
After = Annotated[datetime.datetime, Meta(tz=True, description="Ticks after this time; after now if not given.")]


class SchedulesParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedules."""

    enabled: bool | None = None
    kind: Name | None = None
    queue: Name | None = None
    cursor: Annotated[str, Meta(max_length=300, description="`next` of the page before.")] | None = None
    limit: Limit = 100


class ScheduleParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedule."""

    name: ScheduleName


class ChangeParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedule, and which revision of it."""

    name: ScheduleName
    revision: Revision | None = None


class TicksParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks."""

    count: Count = 10
    after: After | None = None


class PreviewParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks of which schedule."""

    name: ScheduleName
    count: Count = 10
    after: After | None = None


class AllHistoryParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks of all schedules."""

    outcome: TickOutcome | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class LatestTicksParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many ticks of each schedule."""

    count: Annotated[int, Meta(ge=1, le=100)] = 20


class HistoryParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks of which schedule."""

    name: ScheduleName
    outcome: TickOutcome | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class GenerateParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedule, for which day."""

    schedule: ScheduleName
    date: Annotated[datetime.date, Meta(description="The day in the schedule's zone; today if not given.")] | None = (
        None
    )
    batches: Annotated[int, Meta(ge=1, le=100_000, description="Spread the jobs in this many batches.")] | None = None


class RowsBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which rows of a schedule's query jobs are enqueued, and what is different about them."""

    metadata: (
        Annotated[dict[str, Any], Meta(description="A JSON object that is part of a row's `metadata`.")] | None
    ) = None
    keys: Annotated[list[Key], Meta(max_length=10_000, description="Only these.")] | None = None
    after_key: Annotated[Key, Meta(description="Only later keys: `next` of the answer before.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many keys.")] = 1000
    priority: Annotated[Integer, Meta(description="Instead of that of the row or the schedule.")] | None = None
    unique: Annotated[Unique, Meta(description="Which other jobs count as these.")] | None = None
    dry_run: DryRun = False


class EnabledBody(msgspec.Struct, frozen=True):
    """How the schedule is now, and whether this call changed it."""

    schedule: str
    enabled: bool
    changed: bool


class DeletedScheduleBody(msgspec.Struct, frozen=True):
    """The schedule that was removed."""

    deleted: str


class TicksBody(msgspec.Struct, frozen=True):
    """Ticks that are to come. `enabled`: whether they are going to fire."""

    enabled: bool
    ticks: Sequence[NextTick]
