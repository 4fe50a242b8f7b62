"""`leasehold schedules list`, `show`, `preview`, `history`, `trigger`, `generate` and `enqueue`, and the flags of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import date, timedelta
from functools import partial
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from leasehold.cli.commands.enqueue import parse_object, read_text
from leasehold.cli.commands.schedules_view import (
    PreviewReport,
    ScheduleReport,
    describe_timing,
    view_fired,
    view_history,
    view_keyed,
    view_preview,
    view_schedule,
    view_schedules,
)
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import parse_duration, parse_instant
from leasehold.errors import BadInput
from leasehold.jobs.new_job import Unique
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.definition import Missed, Overlap
from leasehold.schedules.records import FiredTick, NextTick, ScheduleRecord, TickOutcome, TickRecord

ScheduleName = Annotated[str, Parameter(help="Name of a schedule, or its id.")]


@dataclass(frozen=True)
class TimingFlags:
    """When a schedule fires."""

    every: Annotated[str | None, Parameter(help="Interval: 30s, 5m, 4h, 1d. Or --cron, or --at.")] = None
    cron: Annotated[str | None, Parameter(help="Five fields, six with seconds first, or @daily.")] = None
    at: Annotated[str | None, Parameter(help="Once, at this instant: 2030-01-31T09:30:00Z.")] = None
    zone: Annotated[str | None, Parameter(help="Time zone of --cron: Europe/Berlin; else UTC.")] = None
    starts_at: Annotated[str | None, Parameter(help="No tick before this instant.")] = None
    ends_at: Annotated[str | None, Parameter(help="No tick at this instant or later.")] = None


@dataclass(frozen=True)
class PolicyFlags:
    """How missed and overlapping ticks are handled, and what jobs are made."""

    query: Annotated[str | None, Parameter(help="A SELECT, a job for each row; @FILE reads it from a file.")] = None
    query_timeout: Annotated[str | None, Parameter(help="How long the query may take; 30s.")] = None
    query_rows: Annotated[int | None, Parameter(help="With more rows the tick fails; 10000."), AN_INTEGER] = None
    stagger: Annotated[str | None, Parameter(help="Spread the jobs of a tick over this long: 30m.")] = None
    batches: Annotated[int | None, Parameter(help="In this many batches; else each job by itself."), AN_INTEGER] = None
    missed: Annotated[
        Missed | None, Parameter(help="What becomes of ticks nobody fired in time; coalesce: one for all.")
    ] = None
    grace: Annotated[str | None, Parameter(help="A tick later than this was missed; 60s.")] = None
    catch_up_limit: Annotated[int | None, Parameter(help="The most missed ticks to catch up; 100."), AN_INTEGER] = None
    overlap: Annotated[
        Overlap | None, Parameter(help="skip: no tick while a job of an earlier one is open; else allow.")
    ] = None
    queue: Annotated[str | None, Parameter(help="Queue of its jobs; else the kind's own or `default`.")] = None
    priority: Annotated[int | None, Parameter(help="Higher runs first."), AN_INTEGER] = None
    key: Annotated[str | None, Parameter(help="What its jobs are about.")] = None
    key_group: Annotated[str | None, Parameter(help="What limits of each group count by.")] = None
    max_attempts: Annotated[int | None, Parameter(help="Attempts until a job counts as failed."), AN_INTEGER] = None
    timeout: Annotated[str | None, Parameter(help="How long one attempt may run.")] = None
    metadata: Annotated[str | None, Parameter(help="Anything else to keep with each job, a JSON object.")] = None
    description: Annotated[str | None, Parameter(help="For people.")] = None


def _seconds(text: str) -> float:
    return parse_duration(text) / timedelta(seconds=1)


_READERS: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(("every", "stagger", "grace", "timeout", "query_timeout"), _seconds),
    **dict.fromkeys(("at", "starts_at", "ends_at"), parse_instant),
    "query": partial(read_text, "the query"),
    "metadata": lambda text: parse_object("metadata", text),
}


def read_flags(*groups: TimingFlags | PolicyFlags) -> dict[str, Any]:
    """What was given, by the field of a `ScheduleDefinition`. Raises BadInput."""
    given = {each.name: getattr(group, each.name) for group in groups for each in fields(group)}
    return {name: _READERS.get(name, lambda value: value)(value) for name, value in given.items() if value is not None}


TIMING = TimingFlags()
SHOWN_TICKS = 5


@shown_as(view_schedules)
async def schedules_list(
    *,
    enabled: Annotated[bool | None, Parameter(help="Only those that fire by themselves, or that do not.")] = None,
    kind: Annotated[str | None, Parameter(help="Only those whose jobs are of this kind.")] = None,
    queue: Annotated[str | None, Parameter(help="Only those whose jobs go to this queue.")] = None,
    after: Annotated[str | None, Parameter(help="Only names behind this one: the last of the page before.")] = None,
    limit: Annotated[int, Parameter(help="Schedules per page, up to 1000."), AN_INTEGER] = 100,
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
    count: Annotated[int, Parameter(help="How many ticks, up to 1000."), AN_INTEGER] = 10,
    after: Annotated[str | None, Parameter(help="Ticks after this instant; else after now.")] = None,
    rows: Annotated[int, Parameter(help="Also run its query, read only, and show this many rows."), AN_INTEGER] = 0,
    timing: Annotated[TimingFlags, Parameter(name="*")] = TIMING,
    context: Annotated[CommandContext, INJECTED],
) -> PreviewReport:
    """Show when a schedule is going to fire, without firing it.

    Shows local times with their offset from UTC. Changes of the clock (summer time) are marked.
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
            ticks = await schedules.preview(name, count=count, after=start)
            report = preview_report(one.name, msgspec.structs.asdict(one), ticks)
            return msgspec.structs.replace(report, rows=await schedules.rows(name, limit=rows)) if rows else report
        return preview_report(None, given, await schedules.preview_of(count=count, after=start, **given))


def preview_report(name: str | None, schedule: dict[str, Any], ticks: list[NextTick]) -> PreviewReport:
    """The ticks of a schedule that is there, or of one without a name that might be made."""
    return PreviewReport(
        schedule=name,
        timing=describe_timing(schedule),
        enabled=bool(schedule.get("enabled", True)),
        ticks=ticks,
    )


@shown_as(view_history)
async def schedules_history(
    name: Annotated[str | None, Parameter(help="Name of a schedule, or its id; all if not given.")] = None,
    /,
    *,
    outcome: Annotated[TickOutcome | None, Parameter(help="Only ticks with this outcome.")] = None,
    before: Annotated[
        int | None, Parameter(help="Only ids below this one: the last id of the page before."), AN_ID
    ] = None,
    limit: Annotated[int, Parameter(help="Ticks per page, up to 1000."), AN_INTEGER] = 50,
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


@shown_as(view_fired)
async def schedules_trigger(name: ScheduleName, /, *, context: Annotated[CommandContext, INJECTED]) -> FiredTick:
    """Fire a schedule now, enabled or not.

    Its overlap policy does not apply, and its next tick stays the same.

    Example:
      leasehold schedules trigger nightly
    """
    async with context.client() as client:
        return await client.schedules.trigger(name)


@shown_as(view_fired)
async def schedules_generate(
    name: ScheduleName,
    /,
    *,
    date: Annotated[str | None, Parameter(help="The day, 2030-01-31, in the schedule's zone; else today.")] = None,
    batches: Annotated[
        int | None, Parameter(help="Spread the jobs over the day, or the stagger, in this many batches."), AN_INTEGER
    ] = None,
    context: Annotated[CommandContext, INJECTED],
) -> FiredTick:
    """Make a schedule's jobs of one day, spread over it.

    A second call for the same day makes no jobs and returns the existing ones.

    Example:
      leasehold schedules generate crawl-all --date 2030-01-31 --batches 24
    """
    day = None if date is None else parse_date(date)
    async with context.client() as client:
        return await client.schedules.generate(name, batches=batches, date=day)


@shown_as(view_keyed)
async def schedules_enqueue(
    name: ScheduleName,
    /,
    *,
    metadata: Annotated[str | None, Parameter(help="Only rows whose metadata contain this JSON object.")] = None,
    key: Annotated[
        tuple[str, ...], Parameter(help="Only this key; may be repeated.", consume_multiple=False, negative=())
    ] = (),
    after_key: Annotated[str | None, Parameter(help="Only later keys: the last one of the call before.")] = None,
    limit: Annotated[int, Parameter(help="The most keys."), AN_INTEGER] = 1000,
    priority: Annotated[int | None, Parameter(help="Instead of that of the schedule."), AN_INTEGER] = None,
    once: Annotated[bool, Parameter(help="Make none for a key that has an unfinished one.", negative=())] = False,
    dry_run: Annotated[bool, Parameter(help="Only tell the keys.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[KeyedJob]:
    """Enqueue a schedule's jobs now, for some rows of its query.

    Its ticks stay the same. It may be disabled.

    Example:
      leasehold schedules enqueue payload_fetch_all --metadata '{"state_code": "AZ"}'
    """
    about = None if metadata is None else parse_object("metadata", metadata)
    async with context.client() as client:
        return await client.schedules.enqueue_rows(
            name,
            metadata=about,
            keys=key or None,
            after_key=after_key,
            limit=limit,
            priority=priority,
            unique=Unique(by=["kind", "key"]) if once else None,
            dry_run=dry_run,
        )


def parse_date(text: str) -> date:
    """A day as ISO 8601 writes it. Raises BadInput."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is no date; write for example 2030-01-31") from error
