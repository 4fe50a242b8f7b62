"""`leasehold capacity`."""

from __future__ import annotations

import re
from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.commands.capacity.view import CapacityReport, QueueCapacity, view_capacity
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.durations import parse_duration
from leasehold.errors import BadInput, NotFound
from leasehold.settings.sources import suggest

_PERCENT = re.compile(r"([+-])(\d+(?:\.\d+)?)%")
_HOURS = re.compile(r"\d+(\.\d+)?(,\d+(\.\d+)?)*")


@shown_as(view_capacity)
async def capacity(
    queue: str | None = None,
    /,
    *,
    hours: Annotated[str, Parameter(help="Hours within which the backlog should be done.")] = "1,4,8",
    what_if: Annotated[str, Parameter(help="By how much arrivals might change.", allow_leading_hyphen=True)] = "+50%",
    target_wait: Annotated[str, Parameter(help="Within which time 95 of 100 jobs should start.")] = "30s",
    context: Annotated[CommandContext, INJECTED],
) -> CapacityReport | QueueCapacity:
    """Show the jobs, throughput and capacity of queues, or what one queue needs.

    Rates are those of the last hour, arrivals of the last ten minutes. For one queue it also estimates how long jobs will
    wait: 95 of 100 jobs wait less than "p95 wait" in the long run, and less than "next hour" with the present backlog and
    the arrivals of an hour. That is a queueing model, see docs/capacity.md. Kinds that no worker serves are named: more
    workers of the same sort do not help them.

    Example:
      leasehold capacity
      leasehold capacity crawl --what-if +200% --target-wait 2m
    """
    if queue is None:
        async with context.client() as client:
            return CapacityReport(queues=await client.capacity.list(), unclaimed=await client.metrics.unclaimed_kinds())
    spans, change = parse_hours(hours), parse_percent(what_if)
    wait = parse_duration(target_wait).total_seconds()
    async with context.client() as client:
        found = await client.capacity.get(queue, hours=spans, target_wait=wait, what_if=[change])
        if found is None:
            known = sorted(each.queue for each in await client.capacity.list())
            raise NotFound(f"nothing is known of a queue {queue}{suggest(queue, known)}")
        return QueueCapacity.of(found, await client.metrics.unclaimed_kinds())


def parse_hours(text: str) -> list[float]:
    """`1,4,8` or `0.5`. Raises BadInput."""
    if not _HOURS.fullmatch(text):
        raise BadInput(f"{text!r} are no hours; write for example 1,4,8")
    return [float(each) for each in text.split(",")]


def parse_percent(text: str) -> float:
    """`+50%` as 0.5, `-20%` as -0.2. Raises BadInput."""
    found = _PERCENT.fullmatch(text)
    if found is None:
        raise BadInput(f"{text!r} is no change; write for example +50% or -20%")
    change = float(found[1] + found[2]) / 100
    if change <= -1:
        raise BadInput(f"arrivals cannot change by {text}; the least is above -100%")
    return change
