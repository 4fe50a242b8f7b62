"""Ticks on the sheets of a calendar: one for each month."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from itertools import groupby

import msgspec
from rich.columns import Columns
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.schedules.records import NextTick

MOST_MONTHS = 2
WEEKDAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
MARKS = "x*²³⁴⁵⁶⁷⁸⁹"  # by how often a day fires
FIRES, SKIPPED, TURNED = "bold green", "red", "bold yellow"


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """A day in the schedule's zone: how many ticks it has, how many of them a blackout keeps from firing, and whether the
    clocks change then."""

    day: date
    ticks: int
    skipped: int
    clocks_change: bool


def days_of(ticks: Sequence[NextTick], *, is_all: bool) -> list[Day]:
    """The days of these ticks in their first month and the next; none where they do not reach to the end of these.

    `is_all`: there are no further ticks.
    """
    if not ticks:
        return []
    first = ticks[0].local.date()
    end = _month_after(_month_after(first))
    if not is_all and ticks[-1].local.date() < end:
        return []
    groups = {day: list(group) for day, group in groupby(ticks, key=lambda tick: tick.local.date())}
    days = [_day(first + timedelta(days=number), groups, ticks[0].local) for number in range((end - first).days)]
    return [day for day in days if day.ticks or day.clocks_change]


def view_months(days: Sequence[Day]) -> list[RenderableType]:
    """A sheet for each month, side by side, and what the marks mean."""
    if not days:
        return []
    marked = {day.day: day for day in days}
    months = sorted({(day.day.year, day.day.month) for day in days})[:MOST_MONTHS]
    return [Text(), Columns([_sheet(year, month, marked) for year, month in months], padding=(0, 4)), _legend(days)]


def _day(day: date, groups: Mapping[date, Sequence[NextTick]], sample: datetime) -> Day:
    ticks = groups.get(day, ())
    start, end = (_midnight(sample, each).utcoffset() for each in (day, day + timedelta(days=1)))
    return Day(
        day=day,
        ticks=len(ticks),
        skipped=sum(tick.skipped is not None for tick in ticks),
        clocks_change=start != end,
    )


def _midnight(sample: datetime, day: date) -> datetime:
    return datetime.combine(day, time(), sample.tzinfo)


def _month_after(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def _sheet(year: int, month: int, marked: dict[date, Day]) -> Table:
    sheet = Table.grid(padding=(0, 1, 0, 0))
    sheet.title = f"{calendar.month_name[month]} {year}"
    sheet.title_style = "bold"
    sheet.add_row(*(Text(f"{name} ", "dim") for name in WEEKDAYS))
    for week in calendar.Calendar().monthdatescalendar(year, month):
        sheet.add_row(*(_cell(day, marked.get(day)) if day.month == month else Text("   ") for day in week))
    return sheet


def _cell(day: date, found: Day | None) -> Text:
    if found is None:
        return Text(f"{day.day:>2} ", "dim")
    fires = found.ticks - found.skipped
    if found.clocks_change:
        return Text(f"{day.day:>2}!", TURNED if found.ticks else "yellow")
    mark = MARKS[fires] if fires < len(MARKS) else "+"
    return Text(f"{day.day:>2}{mark}", FIRES if fires else SKIPPED)


def _legend(days: Sequence[Day]) -> Text:
    counts = {day.ticks - day.skipped for day in days if day.ticks}
    told = [
        ("* fires", FIRES, 1 in counts),
        ("² fires so often", FIRES, any(1 < count < len(MARKS) for count in counts)),
        ("+ more often", FIRES, any(count >= len(MARKS) for count in counts)),
        ("x blackout", SKIPPED, 0 in counts),
        ("! the clocks change", TURNED, any(day.clocks_change for day in days)),
    ]
    return Text("   ").join(Text(text, style) for text, style, is_there in told if is_there)
