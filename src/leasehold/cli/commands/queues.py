"""`leasehold queues …`, and `leasehold wake`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import trio
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import UNITS, ago, count_text, counts_age, parse_duration, plain, table
from leasehold.errors import BadInput
from leasehold.observability.wording import show_span
from leasehold.records.jobs import HELD
from leasehold.records.queues import LimitRecord, QueueRecord
from leasehold.settings.sources import suggest

if TYPE_CHECKING:
    from leasehold.client import Client


DEFAULT_QUEUE = "default"
# Counting jobs may take long in a large table, and what was asked for is done already.
HINT_SECONDS = 3.0


async def hint_at_unknown(context: CommandContext, client: Client, queue: str) -> None:
    """Say if no job is or was in this queue and no worker names it, and suggest a similar name."""
    known = {DEFAULT_QUEUE}
    with trio.move_on_after(HINT_SECONDS) as looking:
        known |= {queue for worker in await client.workers.list() for queue in worker.queues}
        if queue not in known:
            known |= {each.queue for each in await client.metrics.counts()}
    if queue not in known and not looking.cancelled_caught:
        context.say(f"note: no job and no worker knows a queue {queue}{suggest(queue, sorted(known))}")


# As `leasehold top` has them.
COLUMNS = {"ready": ("pending",), "later": ("scheduled", "waiting", "blocked"), "held": HELD}
MOST_KINDS = 3


def view_queues(queues: list[QueueRecord], now: datetime) -> Sequence[RenderableType]:
    """One line per queue, with what was set about it at its end, and how old the counts are."""
    rows = [
        [
            plain(each.queue),
            *(_count(each, states) for states in COLUMNS.values()),
            _count(each, ("failed",)),
            str(each.workers) if each.workers else Text("none", "yellow"),
            Text("; ".join(_notes(each, now)), "yellow"),
        ]
        for each in queues
    ]
    heads = ["queue", *COLUMNS, "failed", "workers", "note"]
    return [table(heads, rows, right=heads[1:-1]), *counts_age([each.counted_at for each in queues], now)]


def _count(queue: QueueRecord, states: Sequence[str]) -> Text:
    jobs = sum(queue.counts.get(state, 0) for state in states)
    return count_text(jobs, states[0], is_partial=queue.is_partial and "pending" in states)


def unserved_note(kinds: Sequence[str]) -> str:
    """What to say of kinds that have ready jobs and no live worker."""
    named = ", ".join(map(str, map(plain, kinds[:MOST_KINDS])))
    return f"nobody serves {named}" + (f" and {len(kinds) - MOST_KINDS} more" if len(kinds) > MOST_KINDS else "")


def _notes(queue: QueueRecord, now: datetime) -> list[str]:
    notes: list[str] = []
    if queue.paused_at is not None:
        why = f": {plain(queue.pause_reason)}" if queue.pause_reason else ""
        notes.append(f"paused {ago(queue.paused_at, now)}{why}")
    if queue.unserved_kinds:
        notes.append(unserved_note(queue.unserved_kinds))
    if queue.limits:
        notes.append(f"{queue.limits} limit{'s' if queue.limits > 1 else ''}")
    if queue.ageing_seconds is not None:
        notes.append(f"a priority more every {show_span(queue.ageing_seconds)}")
    return notes


class QueueChange(msgspec.Struct, frozen=True, kw_only=True):
    """A queue after pause or resume; `changed` is false if nothing had to be changed."""

    queue: str
    paused: bool
    changed: bool


def view_queue_change(change: QueueChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    state = "paused" if change.paused else "running"
    return [plain(f"queue {change.queue} {'is now' if change.changed else 'was already'} {state}")]


@shown_as(view_queues)
async def queues_list(*, context: Annotated[CommandContext, INJECTED]) -> list[QueueRecord]:
    """List all known queues: those with jobs, workers or limits, and paused ones.

    ready: may be claimed now; later: scheduled, waiting for a key or blocked; held: claimed or running; failed: those still
    kept; workers: live ones that serve the queue, perhaps not every kind. The note names kinds without a worker.

    Example:
      leasehold queues list
      leasehold queues list --output json
    """
    async with context.client() as client:
        return await client.queues.list()


@shown_as(view_queue_change)
async def queues_pause(
    queue: str,
    /,
    *,
    reason: Annotated[str | None, Parameter(help="For people.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> QueueChange:
    """Claim nothing more from a queue.

    Running jobs go on and jobs may still be enqueued. An unknown queue may be paused, too.

    Example:
      leasehold queues pause crawl --reason "the shop asked us to"
    """
    async with context.client() as client:
        changed = await client.queues.pause(queue, reason)
        await hint_at_unknown(context, client, queue)
        return QueueChange(queue=queue, paused=True, changed=changed)


@shown_as(view_queue_change)
async def queues_resume(queue: str, /, *, context: Annotated[CommandContext, INJECTED]) -> QueueChange:
    """Claim from a paused queue again.

    Example:
      leasehold queues resume crawl
    """
    async with context.client() as client:
        changed = await client.queues.resume(queue)
        if not changed:
            await hint_at_unknown(context, client, queue)
        return QueueChange(queue=queue, paused=False, changed=changed)


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


class WakeReport(msgspec.Struct, frozen=True, kw_only=True):
    """Which queue's workers were woken; None means all."""

    queue: str | None


def view_wake(report: WakeReport, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [plain(f"woke the workers of queue {report.queue}" if report.queue else "woke all workers")]


@shown_as(view_wake)
async def wake(queue: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> WakeReport:
    """Make workers look for jobs now.

    Those of one queue, or all: the same as NOTIFY leasehold, 'wake:QUEUE' or 'wake'.

    Example:
      leasehold wake
      leasehold wake crawl
    """
    async with context.client() as client:
        await client.queues.wake(queue)
        if queue is not None:
            await hint_at_unknown(context, client, queue)
    return WakeReport(queue=queue)


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
