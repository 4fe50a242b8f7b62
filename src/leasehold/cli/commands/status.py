"""`leasehold status`, and how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import STATE_STYLES, ago, plain, state_text, table
from leasehold.observability.wording import show_span
from leasehold.records.jobs import ANY_STATE
from leasehold.records.queues import MOST_COUNTED, QueueCounts
from leasehold.records.workers import WorkerRecord


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
    workers = _worker_table(report.workers) if report.workers else Text("no workers: leasehold run worker")
    paused = [Text(), _paused_table(report.paused, now)] if report.paused else []
    return [queues, *_age(report.queues, now), *paused, Text(), workers]


def _queue_table(queues: list[QueueCounts]) -> RenderableType:
    counts = {(each.queue, each.state): each.jobs for each in queues}
    names = sorted({queue for queue, _ in counts})
    rows = [[plain(name), *_cells(counts, name)] for name in names]
    if len(names) > 1:
        rows.append([Text("all", "bold"), *_cells(_totals(queues), "all")])
    return table(["queue", *ANY_STATE], rows, right=ANY_STATE)


def _age(queues: list[QueueCounts], now: datetime) -> list[Text]:
    """How old the counts are that were not made for this answer, and which of them are no more than a beginning."""
    counted = [each.counted_at for each in queues if each.counted_at is not None]
    begun = [each.queue for each in queues if each.counted_at and each.state == "pending" and each.jobs == MOST_COUNTED]
    more = f"; {', '.join(begun)}: {MOST_COUNTED:,} or more" if begun else ""
    return [plain(f"large tables were counted {ago(min(counted), now)}{more}", "dim")] if counted else []


def _paused_table(paused: list[PausedQueue], now: datetime) -> RenderableType:
    rows = [[plain(each.queue, "yellow"), ago(each.paused_at, now), plain(each.reason or "")] for each in paused]
    return table(["paused queue", "since", "reason"], rows)


def _cells(counts: dict[tuple[str, str], int], queue: str) -> list[Text]:
    jobs = [(state, counts.get((queue, state), 0)) for state in ANY_STATE]
    return [Text(f"{count:,}", STATE_STYLES[state]) if count else Text("·", "dim") for state, count in jobs]


def _totals(counts: list[QueueCounts]) -> dict[tuple[str, str], int]:
    totals: dict[tuple[str, str], int] = {}
    for each in counts:
        totals["all", each.state] = totals.get(("all", each.state), 0) + each.jobs
    return totals


def _worker_table(workers: list[WorkerRecord]) -> RenderableType:
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


PAUSED_QUEUES = "select queue, paused_at, reason from leasehold.queues where paused_at is not null order by queue"


@shown_as(view_status)
async def status(*, context: Annotated[CommandContext, INJECTED]) -> StatusReport:
    """Show the queues with their jobs by state, and the workers.

    A worker that has missed two heartbeats, or from which a job was taken back, is shown as stale.

    Example:
      leasehold status
      leasehold status --output json
    """
    async with context.database() as database:
        client = context.services.client(database)
        paused = [PausedQueue(**dict(row)) for row in await database.fetch(PAUSED_QUEUES)]
        counts, workers = await client.metrics.counts(), await client.workers.list()
        return StatusReport(queues=counts, paused=paused, workers=workers)
