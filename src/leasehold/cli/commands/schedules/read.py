"""`leasehold schedules list`, `show`, `preview` and `history`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from leasehold.cli.commands.schedules.month_view import days_of
from leasehold.cli.commands.schedules.options import ScheduleName, TimingFlags, read_flags
from leasehold.cli.commands.schedules.view import (
    PreviewReport,
    ScheduleReport,
    view_history,
    view_preview,
    view_schedule,
    view_schedules,
)
from leasehold.cli.commands.schedules.words import describe_timing
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.durations import parse_instant
from leasehold.errors import BadInput
from leasehold.schedules.records import NextTick, ScheduleRecord, TickOutcome, TickRecord

TIMING = TimingFlags()
SHOWN_TICKS = 5
MOST_TICKS = 1000


@shown_as(view_schedules)
async def schedules_list(
    *,
    enabled: Annotated[bool | None, Parameter(help="Only those that fire by themselves, or that do not.")] = None,
    kind: Annotated[str | None, Parameter(help="Only those whose jobs are of this kind.")] = None,
    queue: Annotated[str | None, Parameter(help="Only those whose jobs go to this queue.")] = None,
    after: Annotated[str | None, Parameter(help="Only names behind this one: the last of the page before.")] = None,
    limit: Annotated[int, Parameter(help="Schedules per page, up to 1000.")] = 100,
    context: Annotated[CommandContext, INJECTED],
) -> list[ScheduleRecord]:
    """List schedules by name: when each fires, next and last time.

    Example:
      leasehold schedules list
      leasehold schedules list --no-enabled
    """
    async with context.client() as client:
        found = await client.schedules.list(enabled=enabled, kind=kind, queue=queue, after_name=after, page_size=limit)
    if len(found) == limit:
        context.say(f"more: --after {found[-1].name}")
    return found


@shown_as(view_schedule)
async def schedules_show(name: ScheduleName, /, *, context: Annotated[CommandContext, INJECTED]) -> ScheduleReport:
    """Show a schedule with its next ticks and its last ones.

    Example:
      leasehold schedules show nightly
    """
    async with context.client() as client:
        schedule = await client.schedules.get(name)
        ticks = await client.schedules.history(schedule.name, page_size=SHOWN_TICKS)
        try:
            coming = await client.schedules.preview(schedule.name, count=SHOWN_TICKS)
        except BadInput:  # it cannot be planned, which its last error says
            coming = []
    return ScheduleReport(schedule=schedule, next_ticks=coming, history=ticks)


@shown_as(view_preview)
async def schedules_preview(
    name: Annotated[str | None, Parameter(help="Name of a schedule, or its id; none: what the flags say.")] = None,
    /,
    *,
    count: Annotated[int, Parameter(help="How many ticks, up to 1000.")] = 10,
    after: Annotated[str | None, Parameter(help="Ticks after this instant; else after now.")] = None,
    rows: Annotated[int, Parameter(help="Also run its query, read only, and show this many rows.")] = 0,
    timing: Annotated[TimingFlags, Parameter(name="*")] = TIMING,
    context: Annotated[CommandContext, INJECTED],
) -> PreviewReport:
    """Show when a schedule is going to fire, without firing it.

    Shows local times with their offset from UTC. Ticks in a blackout and changes of the clock (summer time) are marked.
    Without a name it shows what a schedule with these flags would do.

    Example:
      leasehold schedules preview nightly --count 30
      leasehold schedules preview crawl-all --rows 5
      leasehold schedules preview --cron "30 2 * * *" --zone Europe/Berlin --after 2030-03-28T00:00:00Z
    """
    given = read_flags(timing)
    if (name is None) == (not given):
        raise BadInput("name a schedule, or say when with --every, --cron or --at; not both")
    if rows and name is None:
        raise BadInput("--rows is for a schedule that is there")
    start = None if after is None else parse_instant(after)
    async with context.client() as client:
        schedules = client.schedules
        if name is not None:
            one = await schedules.get(name)
            ticks = await schedules.preview(name, count=MOST_TICKS, after=start)
            report = preview_report(one.name, msgspec.structs.asdict(one), ticks, count)
            return msgspec.structs.replace(report, rows=await schedules.rows(name, limit=rows)) if rows else report
        return preview_report(None, given, await schedules.preview_of(count=MOST_TICKS, after=start, **given), count)


def preview_report(name: str | None, schedule: dict[str, Any], ticks: list[NextTick], count: int) -> PreviewReport:
    """The first `count` of the ticks, and the days they fall on."""
    if not 1 <= count <= MOST_TICKS:
        raise BadInput(f"a preview has 1 to {MOST_TICKS} ticks, not {count}")
    return PreviewReport(
        schedule=name,
        timing=describe_timing(schedule),
        enabled=bool(schedule.get("enabled", True)),
        ticks=ticks[:count],
        days=days_of(ticks, is_all=len(ticks) < MOST_TICKS),
    )


@shown_as(view_history)
async def schedules_history(
    name: Annotated[str | None, Parameter(help="Name of a schedule, or its id; all if not given.")] = None,
    /,
    *,
    outcome: Annotated[TickOutcome | None, Parameter(help="Only ticks with this outcome.")] = None,
    before: Annotated[int | None, Parameter(help="Only ids below this one: the last id of the page before.")] = None,
    limit: Annotated[int, Parameter(help="Ticks per page, up to 1000.")] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> list[TickRecord]:
    """List what became of ticks, newest first: fired, skipped or failed, and why.

    Example:
      leasehold schedules history nightly
      leasehold schedules history --outcome failed
    """
    async with context.client() as client:
        ticks = await client.schedules.history(name, outcome=outcome, before_id=before, page_size=limit)
    if len(ticks) == limit:
        context.say(f"more: --before {ticks[-1].id}")
    return ticks
