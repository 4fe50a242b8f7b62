"""`leasehold queues limit`, `queues unlimit` and `queues limits`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.commands.queues import hint_at_unknown
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import UNITS, plain, table
from leasehold.errors import BadInput
from leasehold.observability.wording import show_span
from leasehold.records.queues import LimitRecord

GROUP = Parameter(name="--group", help="One key group, or * for each; the whole queue if not given.")
_RATE = re.compile(r"(\d+(?:\.\d+)?)(?:/(\d*)(s|m|h|d))?")


class LimitChange(msgspec.Struct, frozen=True, kw_only=True):
    """A limit after it was set or dropped; `changed` is false if nothing had to be changed."""

    queue: str
    key_group: str
    limited: bool
    changed: bool


def view_limit_change(report: LimitChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    state = "limited" if report.limited else "without this limit"
    return [plain(f"{_subject(report)} {'is now' if report.changed else 'was already'} {state}")]


def view_limits(limits: list[LimitRecord], _now: datetime) -> Sequence[RenderableType]:
    """One line each: the limit, and how far it is used."""
    heads = ["queue", "group", "running", "of", "rate", "burst", "tokens", "next in"]
    return [table(heads, [[plain(cell) for cell in _cells(each)] for each in limits], right=heads[2:])]


@shown_as(view_limit_change)
async def queues_limit(
    queue: str,
    /,
    *,
    group: Annotated[str, GROUP] = "",
    max_running: Annotated[int | None, Parameter(help="How many may run at once; 0 for none."), AN_INTEGER] = None,
    rate: Annotated[str | None, Parameter(help="How many may start: 10/s, 600/m, 1/30s.")] = None,
    burst: Annotated[int | None, Parameter(help="How many may start at once; else a second's."), AN_INTEGER] = None,
    context: Annotated[CommandContext, INJECTED],
) -> LimitChange:
    """Limit how many jobs of a queue run at once and start, over all workers.

    Every claim from now on heeds the limit. Running jobs count and go on. A job must fit both the limit of its queue and
    that of its key group.

    Example:
      leasehold queues limit crawl --max-running 50
      leasehold queues limit crawl --group '*' --max-running 2 --rate 1/s --burst 5
    """
    per_second = None if rate is None else parse_rate(rate)
    async with context.client() as client:
        changed = await client.queues.set_limit(queue, group, max_running=max_running, rate=per_second, burst=burst)
        await hint_at_unknown(context, client, queue)
    return LimitChange(queue=queue, key_group=group, limited=True, changed=changed)


@shown_as(view_limit_change)
async def queues_unlimit(
    queue: str, /, *, group: Annotated[str, GROUP] = "", context: Annotated[CommandContext, INJECTED]
) -> LimitChange:
    """Take a limit away.

    Example:
      leasehold queues unlimit crawl --group '*'
    """
    async with context.client() as client:
        changed = await client.queues.drop_limit(queue, group)
    return LimitChange(queue=queue, key_group=group, limited=False, changed=changed)


@shown_as(view_limits)
async def queues_limits(
    queue: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]
) -> list[LimitRecord]:
    """Show the limits, all or those of one queue, and how far each is used.

    For a limit on each group (*) it shows the group with the most jobs and the one with the fewest tokens.

    Example:
      leasehold queues limits
    """
    async with context.client() as client:
        return await client.queues.limits(queue)


def parse_rate(text: str) -> float:
    """`10`, `10/s`, `600/m`, `1/30s` as starts a second. Raises BadInput."""
    found = _RATE.fullmatch(text)
    span = float(found[2] or 1) * UNITS[found[3] or ""] if found else 0.0
    if found is None or not span:
        raise BadInput(f"{text!r} is no rate; write for example 10/s, 600/m or 1/30s")
    return float(found[1]) / span


def _subject(change: LimitChange) -> str:
    which = {"": "", "*": "each group of "}.get(change.key_group, f"group {change.key_group} of ")
    return f"{which}queue {change.queue}"


def _cells(limit: LimitRecord) -> list[str]:
    return [
        limit.queue,
        limit.key_group or "(all)",
        str(limit.running),
        "-" if limit.max_running is None else str(limit.max_running),
        "-" if limit.rate is None else f"{limit.rate:.4g}/s",
        "-" if limit.burst is None else str(limit.burst),
        "-" if limit.tokens is None else f"{max(0.0, limit.tokens):.1f}",
        "-" if limit.next_token_in is None else show_span(limit.next_token_in),
    ]
