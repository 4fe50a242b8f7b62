"""What `leasehold capacity` answers, and how people read it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.capacity.records import CapacityPlan, CapacityRecord, Scenario
from leasehold.cli.views.durations import show_span
from leasehold.cli.views.text import fields_table, plain, table
from leasehold.records.measures import UnclaimedKind

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

    @classmethod
    def of(cls, found: CapacityPlan, unclaimed: Sequence[UnclaimedKind]) -> QueueCapacity:
        """The same, to be shown."""
        own = [each for each in unclaimed if each.queue == found.capacity.queue]
        return cls(**msgspec.structs.asdict(found), unclaimed=own)


def _view_queue(report: QueueCapacity) -> Sequence[RenderableType]:
    """The queue as it is, what it needs, and what becomes of it."""
    needed = [[f"{each.hours:g} h", _number(each.workers)] for each in report.workers_needed]
    parts: list[RenderableType] = [
        fields_table(_facts(report.capacity)),
        *_warnings(report.unclaimed),
        Text(),
        table(["through in", "workers"], needed, right=("workers",)),
        Text(),
        plain(f"95 of 100 jobs start within {show_span(report.target_wait)} with {_workers(report.desired_workers)}"),
    ]
    if not report.scenarios:
        return [*parts, plain("no job has ended in the last hour, so nobody knows how long one takes")]
    rows = [[plain(cell) for cell in _scenario(each)] for each in report.scenarios]
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
        "pending": f"{has.pending:,}, of which ready {has.ready:,}",
        "held": f"{has.claimed + has.running:,}",
        "last hour": f"{has.completed_last_hour:,} completed, {has.failed_last_hour:,} failed",
        "arrivals": f"{has.arrivals_per_second:.3g}/s in the last ten minutes",
        "a job takes": _span(has.avg_seconds),
        "workers": f"{has.active_workers} with {has.active_slots} slots",
        "drained in": _hours(has.hours_to_drain),
        "as of": has.counted_at,
    }


def _cells(has: CapacityRecord) -> list[str]:
    return [
        has.queue,
        f"{has.pending:,}",
        f"{has.ready:,}",
        f"{has.claimed + has.running:,}",
        f"{has.completed_last_hour:,}",
        f"{has.failed_last_hour:,}",
        str(has.active_workers),
        str(has.active_slots),
        _span(has.avg_seconds),
        "-" if has.jobs_per_worker_hour is None else f"{has.jobs_per_worker_hour:,.0f}",
        _hours(has.hours_to_drain),
    ]


def _scenario(each: Scenario) -> list[str]:
    found = each.forecast
    return [
        each.name,
        str(each.workers),
        f"{each.arrivals_per_second:.3g}/s",
        "-" if found.utilisation is None else f"{found.utilisation:.0%}",
        f"{found.waiting_share:.0%}",
        _span(found.average_wait, "without end"),
        _span(found.p95_wait, "without end"),
        _span(found.p95_wait_ahead, "without end" if not found.slots else "-"),
        _span(found.drain_seconds, "never"),
    ]


def _number(workers: int | None) -> str:
    return "-" if workers is None else f"{workers:,}"


def _workers(number: int) -> str:
    return "1 worker" if number == 1 else f"{number:,} workers"


def _span(seconds: float | None, otherwise: str = "-") -> str:
    return otherwise if seconds is None else show_span(seconds)


def _hours(hours: float | None) -> str:
    return _span(None if hours is None else hours * 3600)
