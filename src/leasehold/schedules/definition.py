"""A schedule as its maker sees it: when it fires and which jobs it makes. One definition for code, command line and HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypedDict

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.validation import LEAST_INTEGER, LONGEST_KEY, LONGEST_NAME, LONGEST_TIME, MOST_ATTEMPTS, MOST_INTEGER

Missed = Literal["skip", "catch_up", "coalesce"]
Overlap = Literal["allow", "skip"]

YEAR = 31_557_600
QUERY_TIMEOUT, QUERY_ROWS = 30.0, 10_000  # as complete_schedule has them
NAME_PATTERN = "^[^\\x00-\\x1f\\x7f]+$"
Text = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Key = Annotated[str, Meta(min_length=1, max_length=LONGEST_KEY)]
Integer = Annotated[int, Meta(ge=LEAST_INTEGER, le=MOST_INTEGER)]
Span = Annotated[float, Meta(ge=0, le=YEAR)]
Instant = Annotated[datetime, Meta(tz=True)]


class ScheduleDefinition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """When a schedule fires and which jobs it makes. What is left out takes its default."""

    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=NAME_PATTERN, description="Unique.")]
    kind: Annotated[Text, Meta(description="Which handler runs its jobs.")]
    args: Annotated[dict[str, Any], Meta(description="Args of each job; a row of `query` goes on top.")] = {}
    queue: Annotated[Text, Meta(description="`default` if not given.")] | None = None
    priority: Annotated[Integer, Meta(description="Higher goes first; 0 if not given.")] | None = None
    key: Annotated[Key, Meta(description="What the jobs are about; one active job per key.")] | None = None
    key_group: Annotated[Key, Meta(description="What limits of each group count by.")] | None = None
    max_attempts: Annotated[int, Meta(ge=1, le=MOST_ATTEMPTS)] | None = None
    timeout: Annotated[float, Meta(gt=0, le=LONGEST_TIME, description="Seconds one attempt may run.")] | None = None
    metadata: Annotated[dict[str, Any], Meta(description="Each job also gets the schedule and the tick.")] | None = None
    description: Annotated[str, Meta(max_length=10_000, description="For people.")] | None = None
    enabled: Annotated[bool, Meta(description="Whether it fires by itself; true if not given.")] | None = None
    every: Annotated[float, Meta(ge=1, le=LONGEST_TIME, description="Seconds; or give `cron`, or `at`.")] | None = None
    cron: (
        Annotated[
            str, Meta(min_length=1, max_length=500, description="Five fields, six with seconds first, or @daily.")
        ]
        | None
    ) = None
    at: Annotated[datetime, Meta(tz=True, description="Once, at this time.")] | None = None
    zone: Annotated[str, Meta(min_length=1, max_length=100, description="IANA time zone; UTC if not given.")] | None = (
        None
    )
    query: (
        Annotated[str, Meta(min_length=1, max_length=100_000, description="A SELECT: a job for each of its rows.")]
        | None
    ) = None
    query_timeout: Annotated[float, Meta(ge=0.001, le=3600, description="Seconds; 30 if not given.")] | None = None
    query_rows: (
        Annotated[int, Meta(ge=1, le=100_000, description="With more rows the tick fails; 10000 if not given.")] | None
    ) = None
    stagger: Annotated[Span, Meta(description="Seconds over which the jobs of a tick are spread.")] | None = None
    batches: (
        Annotated[int, Meta(ge=1, le=100_000, description="Number of batches; without it each job has its own time.")]
        | None
    ) = None
    missed: Annotated[Missed, Meta(description="What becomes of ticks later than `grace`; coalesce.")] | None = None
    grace: Annotated[Span, Meta(description="Seconds; 60 if not given.")] | None = None
    catch_up_limit: (
        Annotated[int, Meta(ge=1, le=10_000, description="The most missed ticks to catch up; 100.")] | None
    ) = None
    overlap: Annotated[Overlap, Meta(description="skip: not while a job of an earlier tick is open; allow.")] | None = (
        None
    )
    starts_at: Annotated[Instant, Meta(description="No tick before.")] | None = None
    ends_at: Annotated[Instant, Meta(description="No tick then or later.")] | None = None


class ScheduleOptions(TypedDict, total=False):
    """What a schedule may be given. In `update`, None brings back the default.

    Attributes:
        every: seconds or timedelta, a second at the least. Give this, `cron` or `at`.
        cron: five fields, six with the seconds first, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
        at: once, at this time.
        zone: IANA name of the time zone of `cron`; UTC.
        stagger: seconds or timedelta over which the jobs of a tick are spread.
        batches: number of batches to spread the jobs over; without it each job has a time of its own.
        missed: what becomes of ticks that nobody fired in time: `coalesce` (one for all of them, the default), `catch_up`
            (each), `skip`.
        grace: seconds or timedelta after which a tick counts as missed; 60.
        catch_up_limit: the most missed ticks to catch up, the latest ones; 100.
        overlap: `skip`: a tick makes nothing while a job of an earlier one, or its chain, is open; `allow` (the default).
        starts_at, ends_at: no tick before, none then or later.
        query_timeout: seconds that the query may take; 30.
        query_rows: with more rows than this the tick fails; 10 000.
        description: for people.
        enabled: whether it fires by itself; True.
        queue, priority, key, key_group, max_attempts, timeout, metadata: of the jobs, over those of the job it is made with.
    """

    every: float | timedelta | None
    cron: str | None
    at: datetime | None
    zone: str | None
    stagger: float | timedelta | None
    batches: int | None
    missed: Missed | None
    grace: float | timedelta | None
    catch_up_limit: int | None
    overlap: Overlap | None
    starts_at: datetime | None
    ends_at: datetime | None
    query_timeout: float | timedelta | None
    query_rows: int | None
    description: str | None
    enabled: bool | None
    queue: str | None
    priority: int | None
    key: str | None
    key_group: str | None
    max_attempts: int | None
    timeout: float | timedelta | None
    metadata: Mapping[str, Any] | None


class ScheduleChanges(ScheduleOptions, total=False):
    """What of a schedule may change: all but its name."""

    kind: str
    args: Mapping[str, Any] | None
    query: str | None


def _as_change(name: str, hint: Any) -> tuple[str, Any, Any]:
    return (name, hint | UnsetType if name == "kind" else hint | None | UnsetType, UNSET)


FIELDS = {field.name: field.type for field in msgspec.structs.fields(ScheduleDefinition)}

ScheduleChange = msgspec.defstruct(
    "ScheduleChange",
    [_as_change(name, hint) for name, hint in FIELDS.items() if name != "name"],
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    namespace={"__doc__": "What of a schedule is to change. What is left out stays; null brings back the default."},
    module=__name__,
)
"""`ScheduleChanges` as it is checked, and as it comes over HTTP."""
