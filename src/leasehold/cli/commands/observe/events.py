"""`leasehold events`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import trio
from cyclopts import Parameter

from leasehold.cli.commands.observe.event_view import view_events
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.runtime.rendering import render
from leasehold.cli.views.durations import parse_duration
from leasehold.client import Client
from leasehold.client.feed.changes import Change, Wanted, refuse_unknown_events

if TYPE_CHECKING:
    from leasehold.database import Database

LOOK_SECONDS = 0.5


@shown_as(view_events)
async def events(
    *,
    queue: Annotated[tuple[str, ...], Parameter(help="Only jobs of these queues.", negative=())] = (),
    kind: Annotated[tuple[str, ...], Parameter(help="Only jobs of these kinds.", negative=())] = (),
    event: Annotated[tuple[str, ...], Parameter(help="Only these, e.g. job_failed.", negative=())] = (),
    job: Annotated[int | None, AN_ID, Parameter(help="Only this job.")] = None,
    chain: Annotated[int | None, AN_ID, Parameter(help="Only the jobs of this chain.")] = None,
    since: Annotated[str, Parameter(help="How far back to begin, e.g. 90s, 5m, 1h.")] = "10m",
    follow: Annotated[bool, Parameter(alias="-f", help="Go on with what happens.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[Change] | None:
    """Show what happened to jobs, and with --follow what happens.

    The past shows ends, failed attempts and the other entries of timelines. With --follow creations, claims, starts and
    workers are shown, too. With --follow and --output json there is one JSON object per line.

    Example:
      leasehold events --event job_failed --since 1h
      leasehold events --queue crawl --follow
    """
    refuse_unknown_events(event)
    span = parse_duration(since)
    wanted = Wanted(events=event, queues=queue, kinds=kind, job_id=job, chain_id=chain)
    async with context.database() as database:
        client = context.services.client(database)
        begin = (await database.call("get_horizon"))[0]["at"] - span
        if follow:
            await _follow(database, client, wanted, begin, context)
            return None
        return [change async for page in client.changes.replay(begin) for change in page if wanted.has(change)]


async def _follow(database: Database, client: Client, wanted: Wanted, begin: datetime, context: CommandContext) -> None:
    """Print what happened and what happens until interrupted; what is read twice is printed once."""
    printed: set[tuple[object, ...]] = set()
    async with database.reserve("events") as connection:
        feed = client.changes.follow(connection)
        await feed.read()
        async for page in client.changes.replay(begin):
            _print([change for change in page if wanted.has(change)], context)
            printed = {change.identity for change in page}
        while True:
            changes = [change for change in await feed.read() if wanted.has(change)]
            _print([change for change in changes if change.identity not in printed], context)
            if not feed.is_behind:
                printed = set()
                await trio.sleep(LOOK_SECONDS)


def _print(changes: list[Change], context: CommandContext) -> None:
    if changes:
        output = context.common.output
        as_text = output == "text" or (output is None and context.terminal.stdout.isatty())
        render(changes, view_events, "text" if as_text else "jsonl", context.terminal)
