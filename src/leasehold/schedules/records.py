"""What the reading functions answer about schedules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

TickOrigin = Literal["timer", "trigger", "generate"]
TickOutcome = Literal["fired", "skipped", "failed"]
TickNote = Literal["moved", "repeated", "repeated_again"]


class ScheduleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule. Times are the database's, spans are seconds; what is not set is None.

    Attributes:
        every, cron, at: when it fires; one of them is set.
        anchor: ticks of `every` are `anchor + n * every`.
        revision: counts up at each change of the definition.
        planned_revision: up to which a scheduler has worked out `next_run_at`.
        next_run_at: its next tick; None where it is over, cannot be planned (see `last_error`), or is not planned yet.
        last_run_at: when it fired last.
        last_tick_at: the last tick of its timer that was dealt with.
        last_job_count: how many jobs it made then.
        last_error: why the last firing failed, or why it cannot be planned.
        updated_by: who changed the definition last.
        declared: what code declared last; None: made by hand.
        overridden: which declared fields an operator has changed since; what code says of them does not count.
        declared_by: the app that does so, as `module:attribute`.
        orphaned_at: since when the code that declared it does so no more; None: it does.
    """

    id: int
    name: str
    kind: str
    queue: str
    args: dict[str, Any]
    priority: int
    key: str | None
    key_group: str | None
    max_attempts: int | None
    timeout: float | None
    metadata: dict[str, Any] | None
    description: str | None
    enabled: bool
    every: float | None
    cron: str | None
    at: datetime | None
    zone: str
    query: str | None
    query_timeout: float
    query_rows: int
    stagger: float
    batches: int | None
    missed: str
    grace: float
    catch_up_limit: int
    overlap: str
    starts_at: datetime | None
    ends_at: datetime | None
    anchor: datetime | None
    revision: int
    planned_revision: int | None
    next_run_at: datetime | None
    last_run_at: datetime | None
    last_tick_at: datetime | None
    last_job_count: int | None
    last_error: str | None
    created_at: datetime
    updated_at: datetime
    updated_by: str
    declared: dict[str, Any] | None
    overridden: Sequence[str]
    declared_by: str | None
    orphaned_at: datetime | None


class TickRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a tick of a schedule.

    Attributes:
        tick_at: the time that it stands for; of a trigger the time of that.
        fired_at: when it was dealt with.
        origin: `timer`, `trigger` (by hand), `generate`.
        outcome: `fired`, `skipped`, `failed`.
        reason: why it was skipped: `overlap`, `missed`, `coalesced`, `catch_up_limit`.
        ticks: how many ticks this stands for; None: too many to count.
        last_tick_at: the last of them.
        job_count, job_ids: the jobs that were made; None where none were.
        error: why it failed.
        fired_by: who.
    """

    id: int
    schedule: str
    tick_at: datetime
    fired_at: datetime
    origin: TickOrigin
    outcome: TickOutcome
    reason: str | None
    ticks: int | None
    last_tick_at: datetime | None
    job_count: int
    job_ids: Sequence[int] | None
    error: str | None
    fired_by: str


class RecentTicks(msgspec.Struct, frozen=True, kw_only=True):
    """How the last few ticks of a schedule went, the newest first; the lists are of one length. Names as in `TickRecord`."""

    schedule: str
    tick_at: Sequence[datetime]
    outcome: Sequence[TickOutcome]
    job_count: Sequence[int]
    reason: Sequence[str | None]


class FiredTick(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that were made by hand, and the tick that they stand for. `is_new` is False where a generator had made them
    for that day before: these are the same."""

    schedule: str
    tick_at: datetime
    job_count: int
    job_ids: Sequence[int]
    is_new: bool = True


class NextTick(msgspec.Struct, frozen=True, kw_only=True):
    """A tick that is to come.

    Attributes:
        at: in UTC.
        local: the same instant as the clocks in the schedule's zone show it, with its offset from UTC.
        note: what the clocks do there: `moved` (the expression's time does not exist on that day), `repeated` (the clocks
            show this time twice; this is the first), `repeated_again`; None as a rule.
        clock_change: seconds by which the clocks went on (or back, less than 0) since the tick before.
    """

    at: datetime
    local: datetime
    note: TickNote | None = None
    clock_change: float = 0.0


class QueryTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What the query of a schedule gives now.

    Attributes:
        jobs: how many rows it has; each would be a job.
        rows: the first of them.
    """

    jobs: int
    rows: list[dict[str, Any]]
