"""`leasehold capacity`, and how it looks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.capacity.records import CapacityPlan, CapacityRecord, Scenario
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import fields_table, parse_duration, plain, table
from leasehold.errors import BadInput, NotFound
from leasehold.observability.wording import show_count, show_span
from leasehold.records.measures import UnclaimedKind
from leasehold.settings.sources import suggest

HEADS = [
    "queue",
    "pending",
    "ready",
    "held",
    "done/h",
    "failed/h",
    "workers",
    "slots",
    "average",
    "per worker/h",
    "drained in",
]
# The wait of 95 of 100 jobs: p95 wait on the long run, next hour over the backlog and all that comes within an hour.
SCENARIO_HEADS = [
    "what if",
    "workers",
    "arrivals",
    "busy",
    "waiting",
    "mean wait",
    "p95 wait",
    "next hour",
    "drained in",
]

_REASONS = {
    "unserved": "no live worker serves it",
    "paused": "the queue is paused",
    "paused_workers": "the workers that serve it are paused",
}


class CapacityReport(msgspec.Struct, frozen=True, kw_only=True):
    """What each queue has, does and can do, and the kinds with ready jobs that nobody will claim."""

    queues: list[CapacityRecord]
    unclaimed: list[UnclaimedKind]


def view_capacity(report: CapacityReport | QueueCapacity, _now: datetime) -> Sequence[RenderableType]:
    """All queues, or all about one."""
    return _view_queue(report) if isinstance(report, QueueCapacity) else _view_all(report)


def _view_all(report: CapacityReport) -> Sequence[RenderableType]:
    """One line each, and what no number of workers like these will change."""
    rows = [[plain(cell) for cell in _cells(each)] for each in report.queues]
    if not rows:
        return [plain("no jobs")]
    return [table(HEADS, rows, right=HEADS[1:]), *_warnings(report.unclaimed)]


class QueueCapacity(CapacityPlan, frozen=True, kw_only=True):
    """The plan of one queue, and its kinds with ready jobs that nobody will claim."""

    unclaimed: list[UnclaimedKind]


def _view_queue(report: QueueCapacity) -> Sequence[RenderableType]:
    """The queue as it is, what it needs, and what becomes of it."""
    is_partial = report.capacity.is_partial
    needed = [[f"{each.hours:g} h", _number(each.workers, is_partial=is_partial)] for each in report.workers_needed]
    desired = _workers(report.desired_workers, is_partial=is_partial)
    parts: list[RenderableType] = [
        fields_table(_facts(report.capacity)),
        *_warnings(report.unclaimed),
        Text(),
        table(["through in", "workers"], needed, right=("workers",)),
        Text(),
        plain(f"95 of 100 jobs start within {show_span(report.target_wait)} with {desired}"),
    ]
    if not report.scenarios:
        return [*parts, plain("no job has ended in the last hour, so nobody knows how long one takes")]
    rows = [[plain(cell) for cell in _scenario(each, is_partial=is_partial)] for each in report.scenarios]
    return [*parts, Text(), table(SCENARIO_HEADS, rows, right=SCENARIO_HEADS[1:])]


def _warnings(unclaimed: Sequence[UnclaimedKind]) -> list[Text]:
    """More workers of those that are there would not help these."""
    return [
        plain(
            f"kind {each.kind} in queue {each.queue}: {_REASONS[each.reason]}; its jobs wait, the first for "
            f"{show_span(each.waits_for)}, whatever the queue as a whole says",
            "yellow",
        )
        for each in unclaimed
    ]


def _facts(has: CapacityRecord) -> dict[str, object]:
    return {
        "queue": has.queue,
        "pending": ", of which ready ".join(
            show_count(each, is_partial=has.is_partial) for each in (has.pending, has.ready)
        ),
        "held": f"{has.claimed + has.running:,}",
        "last hour": f"{has.completed_last_hour:,} completed, {has.failed_last_hour:,} failed",
        "arrivals": f"{has.arrivals_per_second:.3g}/s in the last ten minutes",
        "a job takes": _span(has.avg_seconds),
        "workers": f"{has.active_workers} with {has.active_slots} slots",
        "drained in": _drained(has),
        "as of": has.counted_at,
    }


def _cells(has: CapacityRecord) -> list[str]:
    return [
        has.queue,
        show_count(has.pending, is_partial=has.is_partial),
        show_count(has.ready, is_partial=has.is_partial),
        f"{has.claimed + has.running:,}",
        f"{has.completed_last_hour:,}",
        f"{has.failed_last_hour:,}",
        str(has.active_workers),
        str(has.active_slots),
        _span(has.avg_seconds),
        "-" if has.jobs_per_worker_hour is None else f"{has.jobs_per_worker_hour:,.0f}",
        _drained(has),
    ]


def _scenario(each: Scenario, *, is_partial: bool) -> list[str]:
    found = each.forecast
    return [
        each.name,
        str(each.workers),
        f"{each.arrivals_per_second:.3g}/s",
        "-" if found.utilisation is None else f"{found.utilisation:.0%}",
        f"{found.waiting_share:.0%}",
        _span(found.average_wait, "without end"),
        _span(found.p95_wait, "without end"),
        _span(found.p95_wait_ahead, "without end" if not found.slots else "-", is_partial=is_partial),
        _span(found.drain_seconds, "never", is_partial=is_partial),
    ]


def _number(workers: int | None, *, is_partial: bool) -> str:
    return "-" if workers is None else show_count(workers, is_partial=is_partial)


def _workers(number: int, *, is_partial: bool) -> str:
    return f"{show_count(number, is_partial=is_partial)} worker{'' if number == 1 and not is_partial else 's'}"


def _span(seconds: float | None, otherwise: str = "-", *, is_partial: bool = False) -> str:
    return otherwise if seconds is None else f"{show_span(seconds)}{' or more' if is_partial else ''}"


def _drained(has: CapacityRecord) -> str:
    return _span(None if has.hours_to_drain is None else has.hours_to_drain * 3600, is_partial=has.is_partial)


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
        unclaimed = [each for each in await client.metrics.unclaimed_kinds() if each.queue == queue]
        return QueueCapacity(**msgspec.structs.asdict(found), unclaimed=unclaimed)


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
