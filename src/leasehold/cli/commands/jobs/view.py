"""Jobs as people read them: a table of many, and all about one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views.durations import show_span
from leasehold.cli.views.text import ago, fields_table, json_text, plain, show_instant, state_text, table
from leasehold.records.jobs import JobProgress, JobRecord, TimelineEntry

NOTE_LENGTH = 100
BAR_LENGTH = 20
HEADS = ("job", "state", "kind", "queue", "key", "try", "when", "worker", "note")


class JobReport(msgspec.Struct, frozen=True, kw_only=True):
    """One job, what happened to it so far, and how far its handler says that it has come."""

    job: JobRecord
    timeline: list[TimelineEntry]
    progress: JobProgress | None = None


def view_jobs(jobs: list[JobRecord], now: datetime) -> Sequence[RenderableType]:
    """One line per job."""
    rows = [_job_row(job, now) for job in jobs]
    used = [index for index, head in enumerate(HEADS) if head in HEADS[:4] or any(str(row[index]) for row in rows)]
    shown = [[row[index] for index in used] for row in rows]
    return [table([HEADS[index] for index in used], shown, right=("job", "try"), cut="note")]


def view_job(report: JobReport, now: datetime) -> Sequence[RenderableType]:
    """What it is, what it was given, what came out, and its timeline."""
    job = report.job
    facts = fields_table(
        {
            "job": str(job.id),
            "state": Text.assemble(state_text(job.state), f"  {when(job, now)}"),
            "kind": job.kind,
            "queue": job.queue,
            "key": job.key,
            "priority": job.priority,
            "attempt": _attempts(job),
            "progress": progress_text(report.progress, now) if report.progress else None,
            "worker": job.worker_id,
            "run at": job.run_at,
            "lease expires at": job.lease_expires_at,
            "metadata": job.metadata,
        }
    )
    parts: list[RenderableType] = [facts, *_block("args", job.args), *_block("output", job.output)]
    return [*parts, *_error_block(job.error), *_timeline(report.timeline)]


def _attempts(job: JobRecord) -> str:
    """The number of the attempt; how many count is another number where some were spared."""
    if not job.spared_attempts:
        return f"{job.attempt} of {job.max_attempts}"
    return (
        f"{job.attempt}; {job.attempt - job.spared_attempts} of {job.max_attempts} count, {job.spared_attempts} spared"
    )


def when(job: JobRecord, now: datetime) -> str:
    """The one time that matters in the job's state."""
    if job.finished_at:
        return ago(job.finished_at, now)
    held_since = job.started_at or job.claimed_at
    if held_since:
        return f"for {show_span((now - held_since).total_seconds())}"
    if job.run_at > now:
        return f"in {show_span((job.run_at - now).total_seconds())}"
    return f"due {ago(job.run_at, now)}"


def progress_text(progress: JobProgress, now: datetime) -> Text:
    """`████████░░░░░░░░░░░░  40 %  parsing  (3s ago)`."""
    parts: list[str | Text | tuple[str, str]] = []
    if progress.fraction is not None:
        full = int(progress.fraction * BAR_LENGTH)
        parts += [
            ("█" * full, "green"),
            ("░" * (BAR_LENGTH - full), "dim"),
            f"  {progress.fraction:.0%}".replace("%", " %"),
        ]
    if progress.message:
        parts += ["  " if parts else "", plain(progress.message)]
    parts.append((f"  ({ago(progress.at, now)})", "dim"))
    return Text.assemble(*parts)


def error_message(error: object) -> str:
    """`Type: message` of a stored error, whatever it holds."""
    if not isinstance(error, dict):
        return "" if error is None else str(error)
    told = cast("dict[str, object]", error)
    return f"{told.get('type', 'error')}: {told.get('message', '')}"


def _job_row(job: JobRecord, now: datetime) -> list[Text]:
    note = plain(error_message(job.error).split("\n", maxsplit=1)[0], "dim")
    note.no_wrap, note.overflow = True, "ellipsis"
    note.truncate(NOTE_LENGTH, overflow="ellipsis")
    return [
        Text(str(job.id)),
        state_text(job.state),
        plain(job.kind),
        plain(job.queue),
        plain(job.key or ""),
        Text(f"{job.attempt - job.spared_attempts}/{job.max_attempts}" if job.attempt else ""),
        Text(when(job, now)),
        plain(job.worker_id or ""),
        note,
    ]


def _block(name: str, value: object) -> list[RenderableType]:
    if value is None or value == {}:
        return []
    return [Text(), Text(name, "bold"), *(plain("  " + line) for line in json_text(value).splitlines())]


def _error_block(error: object) -> list[RenderableType]:
    if error is None:
        return []
    traceback = cast("dict[str, object]", error).get("traceback") if isinstance(error, dict) else None
    message = error_message(cast("object", error))
    lines = [message, *(line for line in str(traceback or "").splitlines() if not line.endswith(message))]
    return [Text(), Text("error", "bold red"), *(plain("  " + line) for line in lines if line.strip())]


def _timeline(entries: list[TimelineEntry]) -> list[RenderableType]:
    if not entries:
        return []
    first = entries[0].at
    rows = [
        [
            show_instant(entry.at),
            f"+{show_span((entry.at - first).total_seconds())}",
            state_text(entry.event),
            str(entry.attempt or ""),
            plain(f"by {entry.actor}" if entry.actor else entry.worker_id or ""),
            plain(entry.message or ""),
        ]
        for entry in entries
    ]
    return [Text(), table(["at", "", "event", "try", "worker", "message"], rows, right=("", "try"))]
