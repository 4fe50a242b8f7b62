"""`leasehold events`, and how an event looks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import trio
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import render_more, shown_as
from leasehold.cli.views import parse_duration, plain
from leasehold.client import Client
from leasehold.client.feed.changes import Change, Wanted, refuse_unknown_events

if TYPE_CHECKING:
    from leasehold.database import Database


STYLES = {
    "job_completed": "green",
    "job_failed": "bold red",
    "job_retried": "yellow",
    "job_reaped": "red",
    "job_cancelled": "dim",
}


def view_events(changes: list[Change], _now: datetime) -> Sequence[RenderableType]:
    """`13:00:05.123 job_failed       job 7  #2  crawl@default  worker pod-1  boom`, in UTC."""
    return [_view_line(change) for change in changes]


def _view_line(change: Change) -> Text:
    at = change.at.astimezone(UTC).strftime("%H:%M:%S.") + f"{change.at.microsecond // 1000:03d}"
    line = Text.assemble((at, "dim"), " ", (f"{change.event:<15}", STYLES.get(change.event, "")))
    if change.job_id is not None:
        line.append(f" job {change.job_id}")
        line.append(f" #{change.attempt}" if change.attempt else "")
        line.append_text(plain(f" {change.kind or '?'}@{change.queue or '?'}"))
    if change.worker_id is not None:
        line.append_text(
            plain(f" on {change.worker_id}" if change.job_id is not None else f" {change.worker_id}", "dim")
        )
    if change.message:
        line.append_text(plain(f"  {change.message}"))
    return line


LOOK_SECONDS = 0.5


@shown_as(view_events)
async def events(
    *,
    queue: Annotated[tuple[str, ...], Parameter(help="Only jobs of these queues.", negative=())] = (),
    kind: Annotated[tuple[str, ...], Parameter(help="Only jobs of these kinds.", negative=())] = (),
    event: Annotated[tuple[str, ...], Parameter(help="Only these, e.g. job_failed.", negative=())] = (),
    job: Annotated[int | None, AN_ID, Parameter(help="Only this job.")] = None,
    chain: Annotated[int | None, AN_ID, Parameter(help="Only the jobs of this chain.")] = None,
    since: Annotated[
        str, Parameter(help="How far back to begin, e.g. 90s, 5m, 1h.", allow_leading_hyphen=True)
    ] = "10m",
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
    span = parse_duration(re.sub(r"^-(?=\d)", "", since))  # what is five minutes back may be written with its sign
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

    def show(changes: list[Change]) -> None:
        render_more(changes, view_events, context.common.output, context.terminal)

    printed: set[tuple[object, ...]] = set()
    async with database.reserve("events") as connection:
        feed = client.changes.follow(connection)
        await feed.read()
        async for page in client.changes.replay(begin):
            show([change for change in page if wanted.has(change)])
            printed = {change.identity for change in page}
        while True:
            changes = [change for change in await feed.read() if wanted.has(change)]
            show([change for change in changes if change.identity not in printed])
            if not feed.is_behind:
                printed = set()
                await trio.sleep(LOOK_SECONDS)
