"""What becomes of the due ticks of a schedule: pure functions of a row of list_due_schedules, which has the time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from leasehold.schedules.timetable import MICROSECOND, Timetable

MOST_PER_FIRING = 1000
MOST_JOBS_PER_FIRING = 20_000


class Tick(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row for the history. A skipped one may stand for several ticks, from `at` up to `last_at`."""

    at: datetime
    outcome: Literal["fired", "skipped", "failed"]
    reason: str | None = None
    ticks: int | None = None
    last_at: datetime | None = None
    error: str | None = None


def fired(at: datetime) -> Tick:
    """A tick that makes its jobs."""
    return Tick(at=at, outcome="fired")


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule to plan or to fire. `grace` and `query_timeout` are in seconds."""

    id: int
    name: str
    revision: int
    is_planned: bool
    next_run_at: datetime | None
    planned_from: datetime
    last_tick_at: datetime | None
    missed: str
    grace: float
    catch_up_limit: int
    query: str | None
    query_timeout: float
    query_rows: int
    now: datetime


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """What fire_schedules is told of one schedule; `rows` are those of its query, as JSON."""

    id: int
    revision: int
    expected: datetime
    next: datetime | None
    ticks: list[Tick]
    rows: list[Any] | None = None

    @property
    def fires(self) -> bool:
        """Whether any tick of it makes jobs."""
        return any(tick.outcome == "fired" for tick in self.ticks)

    def with_rows(self, rows: list[Any]) -> Firing:
        """The same, with the rows of its query, for as many ticks as make twenty thousand jobs; the rest stay due."""
        most = max(1, MOST_JOBS_PER_FIRING // max(1, len(rows)))
        ticks, rest = self.ticks[:most], self.ticks[most:]
        following = rest[0].at if rest else self.next
        return msgspec.structs.replace(self, rows=rows, ticks=ticks, next=following)

    def failed(self, error: str) -> Firing:
        """The same, with an error in place of the jobs."""
        ticks = [
            Tick(at=tick.at, outcome="failed", error=error) if tick.outcome == "fired" else tick for tick in self.ticks
        ]
        return msgspec.structs.replace(self, ticks=ticks, rows=None)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What plan_schedules is told of one schedule."""

    id: int
    revision: int
    next_run_at: datetime | None
    error: str | None = None


def plan(due: Due, timetable: Timetable) -> Plan:
    """Find the first tick of a new or changed schedule: after the change, and after the last tick that was handled.

    A one-shot in the past is due, whenever it was made; its policy for missed ticks decides what becomes of it.
    """
    since = due.planned_from if timetable.at is None else timetable.at - MICROSECOND
    return Plan(id=due.id, revision=due.revision, next_run_at=timetable.after(max(since, due.last_tick_at or since)))


def decide(due: Due, timetable: Timetable) -> Firing | None:
    """What becomes of the ticks from `next_run_at` until now; None where none is due.

    Each tick that is at most `grace` seconds late fires. Earlier ticks are missed, and the policy decides about them.
    One round handles a thousand ticks at the most, and the next round the rest.
    """
    first = due.next_run_at
    if first is None or first > due.now:
        return None
    missed_until = due.now - timedelta(seconds=due.grace) - MICROSECOND
    if first > missed_until:
        ticks = [fired(first), *_punctual(timetable, first, due.now)]
    else:
        punctual = _punctual(timetable, missed_until, due.now)
        ticks = _missed(due, timetable, first, missed_until, bool(punctual)) + punctual
    following = timetable.after(ticks[-1].last_at or ticks[-1].at)
    return Firing(id=due.id, revision=due.revision, expected=first, next=following, ticks=ticks)


def _punctual(timetable: Timetable, after: datetime, now: datetime) -> list[Tick]:
    return [fired(at) for at in timetable.between(after, now, MOST_PER_FIRING)]


def _missed(due: Due, timetable: Timetable, first: datetime, until: datetime, has_punctual: bool) -> list[Tick]:
    """What becomes of the ticks from `first` until `until`: the latest fire, the others are skipped with one row."""
    fire, reason = {
        "skip": (0, "missed"),
        "catch_up": (due.catch_up_limit, "catch_up_limit"),
        "coalesce": (0 if has_punctual else 1, "coalesced"),
    }[due.missed]
    latest, older = timetable.latest(first, until, fire + 1)
    latest = latest or [first]  # another scheduler, with other data on its time zone, planned it
    if len(latest) <= fire:
        return [fired(at) for at in latest]
    count = None if older is None else older + 1
    skipped = Tick(at=first, outcome="skipped", reason=reason, ticks=count, last_at=latest[0])
    return [skipped, *map(fired, latest[1:])]
