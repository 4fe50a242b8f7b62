"""When a schedule fires, and what its next ticks are: pure arithmetic over moments that are passed in.

Ticks of an interval are at `anchor + n × every`, so they never drift; those of cron are where `leasehold.schedules.wall_clock`
says; a one-shot has one. There are no ticks before `starts_at`, nor from `ends_at` on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim

from leasehold.errors import BadInput
from leasehold.schedules.records import NextTick, TickNote
from leasehold.schedules.wall_clock import cron_ticks, find_zone, parse_cron, read_time

LAST_MOMENT = datetime(9000, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MOST_COUNTED = 10_000

MOST_TICKS = 1000


class Timetable(msgspec.Struct, frozen=True, kw_only=True):
    """The times of a schedule; exactly one of `every`, `cron` and `at`. Moments are in UTC."""

    zone: ZoneInfo
    every: timedelta | None = None
    anchor: datetime | None = None
    cron: str | None = None
    at: datetime | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    @classmethod
    def of(cls, schedule: Mapping[str, Any], now: datetime | None = None) -> Timetable:
        """From a definition as `complete_schedule` has it, or a row of schedules.

        Args:
            schedule: its fields; moments as datetime or RFC 3339, `every` in seconds.
            now: what the interval of a definition that is not saved yet counts from, unless it has `starts_at`.

        Raises:
            BadInput: cron expression or zone cannot be read.
        """

        def moment(name: str) -> datetime | None:
            value = schedule.get(name)
            return None if value is None else read_time(value)

        every = schedule.get("every")
        anchor = moment("anchor") or moment("starts_at") or now
        if every is not None and anchor is None:
            raise BadInput("an interval counts from its anchor, starts_at, or now; give one of them")
        try:
            return cls(
                zone=find_zone(schedule.get("zone") or "UTC"),
                every=None if every is None else timedelta(seconds=float(every)),
                anchor=None if every is None else anchor,
                cron=None if schedule.get("cron") is None else parse_cron(schedule["cron"]),
                at=moment("at"),
                starts_at=moment("starts_at"),
                ends_at=moment("ends_at"),
            )
        except (ValueError, OverflowError) as error:
            raise BadInput(f"the times of the schedule cannot be read: {error}") from error

    def after(self, moment: datetime) -> datetime | None:
        """The next tick, strictly later; None where there is none."""
        return next(self.ticks(moment), None)

    def between(self, after: datetime, until: datetime, most: int) -> list[datetime]:
        """The first `most` ticks later than `after` and not later than `until`."""
        return list(islice(takewhile(lambda tick: tick <= until, self.ticks(after)), most))

    def latest(self, first: datetime, until: datetime, most: int) -> tuple[list[datetime], int | None]:
        """The last `most` ticks from the tick `first` on and not later than `until`, and how many there are before them;
        None for that where it is not worth counting (more than ten thousand)."""
        found = self.between(first - MICROSECOND, until, MOST_COUNTED + most + 1)
        if len(found) <= MOST_COUNTED + most:
            return found[-most:], len(found) - min(most, len(found))
        span = timedelta(minutes=1)
        while len(found := list(takewhile(lambda tick: tick <= until, self.ticks(until - span)))) < most:
            span *= 4
        return found[-most:], None

    def ticks(self, after: datetime) -> Iterator[datetime]:
        """All ticks later than `after`."""
        if self.starts_at is not None:
            after = max(after, self.starts_at - MICROSECOND)
        until = LAST_MOMENT if self.ends_at is None else self.ends_at
        for tick in self._unbounded(after):
            if tick >= until:
                return
            yield tick

    def _unbounded(self, after: datetime) -> Iterator[datetime]:
        if self.cron is not None:
            yield from cron_ticks(self.cron, self.zone, after)
        elif self.every is not None and self.anchor is not None:
            tick = self.anchor + max(0, (after - self.anchor) // self.every + 1) * self.every
            while tick < LAST_MOMENT:
                yield tick
                tick += self.every
        elif self.at is not None and self.at > after:
            yield self.at


def beginning(schedule: Mapping[str, Any], now: datetime) -> datetime:
    """Where the ticks to come begin: now, or before a one-shot of the past that has not fired and is due at once.

    Args:
        schedule: a definition as `complete_schedule` has it, or a row of `schedules`.
        now: by the database's clock.
    """
    if schedule.get("at") is None or schedule.get("last_tick_at") is not None:
        return now
    at = read_time(schedule["at"])
    is_missed = at < now - timedelta(seconds=float(schedule["grace"]))
    return now if is_missed and schedule["missed"] == "skip" else min(now, at - MICROSECOND)


def next_ticks(schedule: Mapping[str, Any], after: datetime, count: int, now: datetime) -> list[NextTick]:
    """The first `count` ticks after a moment.

    Args:
        schedule: a definition, or a row of `schedules`.
        after: where to begin.
        count: 1 to 1000.
        now: from which the ticks of an interval count that is not saved yet.

    Raises:
        BadInput: it cannot be planned, or `count` is out of range.
    """
    if not 1 <= count <= MOST_TICKS:
        raise BadInput(f"a preview has 1 to {MOST_TICKS} ticks, not {count}")
    cron = schedule.get("cron")
    expression = parse_cron(str(cron)) if cron else None
    timetable = Timetable.of(schedule, now=now)
    ticks: list[NextTick] = []
    before = after.astimezone(timetable.zone)
    for tick in islice(timetable.ticks(after), count):
        local = tick.astimezone(timetable.zone)
        change = (local.utcoffset() or timedelta()) - (before.utcoffset() or timedelta())
        note = clock_note(local, expression)
        ticks.append(NextTick(at=tick, local=local, note=note, clock_change=change.total_seconds()))
        before = local
    return ticks


def clock_note(local: datetime, expression: str | None) -> TickNote | None:
    """What the clocks do at a tick: see `NextTick.note`."""
    if expression is not None and not _matches(expression, local.replace(tzinfo=None)):
        return "moved"
    if local.replace(fold=0).utcoffset() == local.replace(fold=1).utcoffset():
        return None
    return "repeated_again" if local.fold else "repeated"


def _matches(expression: str, naive: datetime) -> bool:
    return next(CronSim(expression, naive - timedelta(seconds=1)), None) == naive
