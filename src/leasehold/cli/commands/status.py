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
from leasehold.cli.views import ago, count_text, counts_age, plain, state_text, table
from leasehold.observability.wording import show_span
from leasehold.records.jobs import ANY_STATE
from leasehold.records.queues import QueueCounts
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
    return [queues, *counts_age([each.counted_at for each in report.queues], now), *paused, Text(), workers]


def _queue_table(queues: list[QueueCounts]) -> RenderableType:
    counts = {(each.queue, each.state): each for each in queues}
    names = sorted({queue for queue, _ in counts})
    rows = [[plain(name), *(_cell(state, counts.get((name, state))) for state in ANY_STATE)] for name in names]
    if len(names) > 1:
        rows.append([Text("all", "bold"), *(_cell(state, *_in(state, queues)) for state in ANY_STATE)])
    return table(["queue", *ANY_STATE], rows, right=ANY_STATE)


def _in(state: str, queues: list[QueueCounts]) -> list[QueueCounts]:
    return [each for each in queues if each.state == state]


def _cell(state: str, *counts: QueueCounts | None) -> Text:
    there = [each for each in counts if each]
    return count_text(sum(each.jobs for each in there), state, is_partial=any(each.is_partial for each in there))


def _paused_table(paused: list[PausedQueue], now: datetime) -> RenderableType:
    rows = [[plain(each.queue, "yellow"), ago(each.paused_at, now), plain(each.reason or "")] for each in paused]
    return table(["paused queue", "since", "reason"], rows)


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
