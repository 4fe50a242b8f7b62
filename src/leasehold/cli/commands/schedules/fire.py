"""`leasehold schedules trigger`, `generate` and `enqueue`: jobs of a schedule by hand."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.commands.jobs.enqueue import parse_object
from leasehold.cli.commands.schedules.options import ScheduleName
from leasehold.cli.commands.schedules.view import view_fired, view_keyed
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.errors import BadInput
from leasehold.jobs.producing.unique import Unique
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.records import FiredTick


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
