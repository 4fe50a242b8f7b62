"""`leasehold queues age`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.commands.queues.hints import hint_at_unknown
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.durations import parse_duration, show_span
from leasehold.cli.views.text import plain


class AgeingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A queue after it was told how its jobs age; `every` is in seconds, None: never. `changed` is false if nothing had to
    be changed."""

    queue: str
    every: float | None
    changed: bool


def view_ageing(report: AgeingChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    now = "now" if report.changed else "already"
    if report.every is None:
        return [plain(f"jobs of queue {report.queue} {now} keep the priority they were given")]
    return [
        plain(f"jobs of queue {report.queue} {now} gain a priority for every {show_span(report.every)} that they wait")
    ]


@shown_as(view_ageing)
async def queues_age(
    queue: str,
    every: Annotated[
        str | None, Parameter(help="How long a job waits until its priority rises by one. Without it ageing ends.")
    ] = None,
    /,
    *,
    context: Annotated[CommandContext, INJECTED],
) -> AgeingChange:
    """Raise the priority of jobs while they wait.

    So jobs of low priority start in the end. No job is raised above the highest priority that is pending in the queue. Each
    time the thousand oldest jobs are raised.

    Example:
      leasehold queues age mail 5m
      leasehold queues age mail
    """
    span = None if every is None else parse_duration(every)
    async with context.client() as client:
        changed = await client.queues.set_ageing(queue, span)
        await hint_at_unknown(context, client, queue)
    return AgeingChange(queue=queue, every=None if span is None else span.total_seconds(), changed=changed)
