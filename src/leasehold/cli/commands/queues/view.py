"""Queues as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views.durations import show_span
from leasehold.cli.views.text import STATE_STYLES, ago, plain, table
from leasehold.records.queues import QueueRecord

# As `leasehold top` has them.
COLUMNS = {"ready": ("pending",), "later": ("scheduled", "waiting", "blocked"), "held": ("running", "claimed")}
MOST_KINDS = 3


def view_queues(queues: list[QueueRecord], now: datetime) -> Sequence[RenderableType]:
    """One line per queue, with what was set about it at its end."""
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
    return [table(heads, rows, right=heads[1:-1])]


def _count(queue: QueueRecord, states: Sequence[str]) -> Text:
    jobs = sum(queue.counts.get(state, 0) for state in states)
    return Text(f"{jobs:,}", STATE_STYLES[states[0]]) if jobs else Text("·", "dim")


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
