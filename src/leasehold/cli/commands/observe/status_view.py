"""What `leasehold status` answers, and how people read it: queues by state, then workers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.cli.views.durations import show_span
from leasehold.cli.views.text import STATE_STYLES, ago, plain, state_text, table
from leasehold.records.queues import QueueCounts
from leasehold.records.workers import WorkerRecord

STATES = ("pending", "scheduled", "waiting", "blocked", "claimed", "running", "completed", "failed", "cancelled")


class PausedQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue from which nothing is claimed, since when, and why."""

    queue: str
    paused_at: datetime
    reason: str | None


class StatusReport(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs per queue and state, the paused queues, and the workers."""

    queues: list[QueueCounts]
    paused: list[PausedQueue]
    workers: list[WorkerRecord]


def view_status(report: StatusReport, now: datetime) -> Sequence[RenderableType]:
    """Up to three tables; a sentence where there is nothing."""
    queues = _queue_table(report.queues) if report.queues else Text("no jobs")
    counted = [each.counted_at for each in report.queues if each.counted_at is not None]
    age = [Text(f"large tables were counted {ago(min(counted), now)}", "dim")] if counted else []
    workers = _worker_table(report.workers) if report.workers else Text("no workers: leasehold run worker")
    paused = [Text(), _paused_table(report.paused, now)] if report.paused else []
    return [queues, *age, *paused, Text(), workers]


def _queue_table(queues: list[QueueCounts]) -> Table:
    counts = {(each.queue, each.state): each.jobs for each in queues}
    names = sorted({queue for queue, _ in counts})
    rows = [[plain(name), *_cells(counts, name)] for name in names]
    if len(names) > 1:
        rows.append([Text("all", "bold"), *_cells(_totals(queues), "all")])
    return table(["queue", *STATES], rows, right=STATES)


def _paused_table(paused: list[PausedQueue], now: datetime) -> Table:
    rows = [[plain(each.queue, "yellow"), ago(each.paused_at, now), plain(each.reason or "")] for each in paused]
    return table(["paused queue", "since", "reason"], rows)


def _cells(counts: dict[tuple[str, str], int], queue: str) -> list[Text]:
    jobs = [(state, counts.get((queue, state), 0)) for state in STATES]
    return [Text(f"{count:,}", STATE_STYLES[state]) if count else Text("·", "dim") for state, count in jobs]


def _totals(counts: list[QueueCounts]) -> dict[tuple[str, str], int]:
    totals: dict[tuple[str, str], int] = {}
    for each in counts:
        totals["all", each.state] = totals.get(("all", each.state), 0) + each.jobs
    return totals


def _worker_table(workers: list[WorkerRecord]) -> Table:
    rows = [
        [
            plain(each.worker_id),
            _worker_state(each),
            f"{each.active_jobs}/{each.slots}",
            plain(", ".join(each.queues) or "all"),
            plain(f"{each.host}:{each.pid}"),
            f"{show_span(each.silent_for)} ago",
        ]
        for each in workers
    ]
    return table(["worker", "state", "slots", "queues", "process", "heartbeat"], rows, right=("slots",))


def _worker_state(worker: WorkerRecord) -> Text:
    if worker.state == "ready" and worker.backoff is not None:
        return plain(f"backing off: {worker.backoff}", "yellow")
    return state_text(worker.state)
