"""The ticks that are to come, with what the clocks of a zone and the blackouts do to them. Pure: time is passed in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from cronsim import CronSim

from leasehold.errors import BadInput
from leasehold.schedules.blackouts import read_time
from leasehold.schedules.cron import parse_cron
from leasehold.schedules.records import NextTick, TickNote
from leasehold.schedules.timetable import MICROSECOND, Timetable

MOST_TICKS = 1000


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
    """The first `count` ticks after a moment, those that fall into a blackout among them.

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
    return [
        NextTick(
            at=each.at,
            local=each.local,
            skipped="blackout" if each.is_blacked_out else None,
            note=clock_note(each.local, expression),
            clock_change=each.clock_change,
        )
        for each in Timetable.of(schedule, now=now).preview(after, count)
    ]


def clock_note(local: datetime, expression: str | None) -> TickNote | None:
    """What the clocks do at a tick: see `NextTick.note`."""
    if expression is not None and not _matches(expression, local.replace(tzinfo=None)):
        return "moved"
    if local.replace(fold=0).utcoffset() == local.replace(fold=1).utcoffset():
        return None
    return "repeated_again" if local.fold else "repeated"


def _matches(expression: str, naive: datetime) -> bool:
    return next(CronSim(expression, naive - timedelta(seconds=1)), None) == naive
