"""The result of a command for each job, and how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType

from leasehold.cli.views.text import plain, state_text, table
from leasehold.records.jobs import ChangedJob


class JobChange(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one id: changed, or skipped with the reason.

    `was` and `now` are its state before and after, the same if it was skipped; None if there is no such job.
    """

    job_id: int
    changed: bool
    was: str | None = None
    now: str | None = None
    reason: str | None = None


def view_changes(changes: list[JobChange] | list[ChangedJob], _now: datetime) -> Sequence[RenderableType]:
    """One line per job; where jobs were chosen by what they are, with what each is."""
    rows = [
        [
            str(each.job_id),
            *([plain(each.kind or "-"), plain(each.queue or "-")] if isinstance(each, ChangedJob) else []),
            "changed" if each.changed else "skipped",
            state_text(each.was or "-"),
            state_text(each.now or "-"),
            plain(each.reason or ""),
        ]
        for each in changes
    ]
    which = ["kind", "queue"] if isinstance(changes[0], ChangedJob) else []
    return [table(["job", *which, "result", "was", "now", "why"], rows)]
