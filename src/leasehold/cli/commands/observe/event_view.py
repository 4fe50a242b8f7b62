"""What happened, as people read it: a line for each change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views.text import plain
from leasehold.client.feed.changes import Change

STYLES = {
    "job_completed": "green",
    "job_failed": "bold red",
    "job_retried": "yellow",
    "job_reaped": "red",
    "job_cancelled": "dim",
}


def view_events(changes: list[Change], _now: datetime) -> Sequence[RenderableType]:
    """`13:00:05.123 job_failed       job 7  #2  crawl@default  worker pod-1  boom`, in UTC."""
    return [_view_line(change) for change in changes]


def _view_line(change: Change) -> Text:
    at = change.at.astimezone(UTC).strftime("%H:%M:%S.") + f"{change.at.microsecond // 1000:03d}"
    line = Text.assemble((at, "dim"), " ", (f"{change.event:<15}", STYLES.get(change.event, "")))
    if change.job_id is not None:
        line.append(f" job {change.job_id}")
        line.append(f" #{change.attempt}" if change.attempt else "")
        line.append_text(plain(f" {change.kind or '?'}@{change.queue or '?'}"))
    if change.worker_id is not None:
        line.append_text(
            plain(f" on {change.worker_id}" if change.job_id is not None else f" {change.worker_id}", "dim")
        )
    if change.message:
        line.append_text(plain(f"  {change.message}"))
    return line
