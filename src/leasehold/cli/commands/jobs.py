"""`leasehold jobs list`, `show`, `why`, `errors` and `logs`, and how jobs look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, cast

import msgspec
import trio
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.commands.enqueue import parse_object
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, AN_INTEGER, INJECTED, WHOLE
from leasehold.cli.runtime.outcome import render_more, shown_as
from leasehold.cli.views import OneLine, ago, clock_time, fields_table, json_text, plain, state_text, table
from leasehold.observability.logs import escape_controls
from leasehold.observability.wording import show_instant, show_span
from leasehold.records.jobs import (
    ENDED,
    QUEUED,
    AttemptError,
    Explanation,
    JobProgress,
    JobRecord,
    LogLine,
    TimelineEntry,
)

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
    fields = cast("dict[str, object]", error)
    return f"{fields.get('type', 'error')}: {fields.get('message', '')}"


def _job_row(job: JobRecord, now: datetime) -> list[RenderableType]:
    note = error_message(job.error).partition("\n")[0]
    return [
        Text(str(job.id)),
        state_text(job.state),
        plain(job.kind),
        plain(job.queue),
        plain(job.key or ""),
        Text(f"{job.attempt - job.spared_attempts}/{job.max_attempts}" if job.attempt else ""),
        Text(when(job, now)),
        plain(job.worker_id or ""),
        OneLine(escape_controls(" ".join(note.split())), "dim"),
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
            clock_time(entry.at),
            f"+{show_span((entry.at - first).total_seconds())}",
            state_text(entry.event),
            str(entry.attempt or ""),
            plain(": ".join(filter(None, (f"by {entry.actor}" if entry.actor else entry.worker_id, entry.message)))),
        ]
        for entry in entries
    ]
    return [Text(), table(["at (UTC)", "after", "event", "try", "note"], rows, right=("after", "try"), cut="note")]


WONDER_AFTER = timedelta(minutes=1)


@shown_as(view_jobs)
async def jobs_list(
    *,
    state: Annotated[str | None, Parameter(help="Only jobs in this state.")] = None,
    queue: Annotated[str | None, Parameter(help="Only jobs of this queue.")] = None,
    kind: Annotated[str | None, Parameter(help="Only jobs of this kind.")] = None,
    key: Annotated[str | None, Parameter(help="Only jobs with this key.")] = None,
    args: Annotated[str | None, Parameter(help="Only jobs whose args contain this JSON object.")] = None,
    metadata: Annotated[str | None, Parameter(help="Only jobs whose metadata contain this JSON object.")] = None,
    before: Annotated[
        int | None, Parameter(help="Only ids below this one: the last id of the page before."), AN_ID
    ] = None,
    limit: Annotated[int, Parameter(help="Jobs per page, up to 1000.", validator=Number(gte=1, lte=1000)), WHOLE] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> list[JobRecord]:
    """List jobs, newest first.

    Example:
      leasehold jobs list --state failed --queue crawl
      leasehold jobs list --metadata '{"state_code": "AZ"}'
      leasehold jobs list --before 1200 --limit 20
    """
    within = None if args is None else parse_object("args", args)
    about = None if metadata is None else parse_object("metadata", metadata)
    async with context.client() as client:
        jobs = await client.jobs.list(
            state=state, queue=queue, kind=kind, key=key, args=within, metadata=about, before_id=before, page_size=limit
        )
    if len(jobs) == limit:
        context.say(f"more: --before {jobs[-1].id}")
    return jobs


@shown_as(view_job)
async def jobs_show(job_id: Annotated[int, AN_ID], /, *, context: Annotated[CommandContext, INJECTED]) -> JobReport:
    """Show all about one job: args, output or error, and its timeline.

    Example:
      leasehold jobs show 42
      leasehold jobs show 42 --output json
    """
    async with context.client() as client:
        job = await client.get(job_id)
        if is_slow_to_start(job, context.terminal.now()):
            context.say(f"why it is not running: leasehold jobs why {job_id}")
        return JobReport(
            job=job, timeline=await client.jobs.timeline(job_id), progress=await client.jobs.progress(job_id)
        )


def is_slow_to_start(job: JobRecord, now: datetime) -> bool:
    """Whether people may wonder why the job is not running."""
    return job.state in QUEUED and now - job.run_at > WONDER_AFTER


# Somebody has to do something; time will do it; nothing is wrong.
STYLES = {
    **dict.fromkeys(("read_only", "paused", "paused_workers", "unserved", "failed", "stale", "locked"), "bold red"),
    **dict.fromkeys(("blocked", "scheduled", "stranded", "key_held", "key_line", "limited"), "yellow"),
    **dict.fromkeys(("backing_off", "behind", "busy", "suspect"), "yellow"),
    **dict.fromkeys(("completed", "running", "claimed", "idle_worker", "expected_start"), "green"),
}


class WhyReport(msgspec.Struct, frozen=True, kw_only=True):
    """Why a job is not running: all reasons, the most important first."""

    job_id: int
    state: str
    reasons: list[Explanation]


def view_why(report: WhyReport, _now: datetime) -> Sequence[RenderableType]:
    """The answer in one sentence; below it every reason, where there are several."""
    if not report.reasons:
        return [Text.assemble(f"job {report.job_id} is ", state_text(report.state))]
    first = report.reasons[0].explanation
    answer = Text.assemble(f"job {report.job_id} is ", state_text(report.state), ": ", plain(first, "bold"))
    if len(report.reasons) == 1:
        return [answer]
    rows = [
        [
            Text(each.reason, STYLES.get(each.reason, "")),
            show_instant(each.until) if each.until else "",
            plain(each.explanation),
        ]
        for each in report.reasons
    ]
    return [answer, Text(), table(["reason", "until", "explanation"], rows, cut="explanation")]


@shown_as(view_why)
async def jobs_why(job_id: Annotated[int, AN_ID], /, *, context: Annotated[CommandContext, INJECTED]) -> WhyReport:
    """Say why a job is not running, and when it is expected to.

    The first line is the answer, the table below has every reason. Asking costs the same for a long queue as for a short
    one.

    Example:
      leasehold jobs why 42
      leasehold jobs why 42 --output json
    """
    async with context.client() as client:
        return WhyReport(
            job_id=job_id, state=(await client.get(job_id)).state, reasons=await client.jobs.explain(job_id)
        )


def view_errors(errors: list[AttemptError], _now: datetime) -> Sequence[RenderableType]:
    """Each attempt with its error and traceback."""
    parts: list[RenderableType] = []
    for each in errors:
        parts += [Text()] if parts else []
        parts.append(
            plain(f"attempt {each.attempt}, {each.at:%Y-%m-%d %H:%M:%S} UTC, {each.worker_id or 'no worker'}", "bold")
        )
        parts.append(plain(f"{each.type}: {each.message}", "red"))
        last = f"{each.type}: {each.message}"
        lines = [line for line in (each.traceback or "").splitlines() if line.strip() and not line.endswith(last)]
        parts += [plain("  " + line) for line in lines]
    return parts


@shown_as(view_errors)
async def jobs_errors(
    job_id: Annotated[int, Parameter(help="Id of a job."), AN_ID], /, *, context: Annotated[CommandContext, INJECTED]
) -> list[AttemptError]:
    """Show the error of each failed attempt of a job, oldest first.

    Example:
      leasehold jobs errors 42
    """
    async with context.client() as client:
        return await client.jobs.errors(job_id)


FOLLOW_SECONDS = 0.5
LEVELS = {"debug": "dim", "warning": "yellow", "error": "bold red", "critical": "bold red"}


def view_logs(lines: list[LogLine], _now: datetime) -> Sequence[RenderableType]:
    """`13:00:05.123 #1 info      message`, in UTC; further lines of a message are indented."""
    return [part for line in lines for part in _view_line(line)]


def _view_line(line: LogLine) -> list[Text]:
    at = line.at.astimezone(UTC).strftime("%H:%M:%S.") + f"{line.at.microsecond // 1000:03d}"
    first, *rest = line.message.splitlines() or [""]
    head = Text.assemble(f"{at} #{line.attempt} ", (f"{line.level:<8}", LEVELS.get(line.level, "")), " ", plain(first))
    return [head, *(plain("    " + each) for each in rest)]


@shown_as(view_logs)
async def jobs_logs(
    job_id: Annotated[int, AN_ID],
    /,
    *,
    attempt: Annotated[int | None, Parameter(help="Only the lines of this attempt."), AN_INTEGER] = None,
    follow: Annotated[
        bool, Parameter(alias="-f", help="Go on with new lines until the job has ended.", negative=())
    ] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[LogLine] | None:
    """Show what the handlers of a job have logged with `job.log`, oldest first.

    With --follow and --output json there is one JSON object per line.

    Example:
      leasehold jobs logs 42
      leasehold jobs logs 42 --follow
    """
    async with context.client() as client:
        if not follow:
            return await client.jobs.logs(job_id, attempt=attempt)
        shown = 0
        while True:
            has_ended = (await client.get(job_id)).state in ENDED
            if has_ended:  # its last lines come a moment after its end
                await trio.sleep(FOLLOW_SECONDS)
            lines = await client.jobs.logs(job_id, attempt=attempt)
            render_more(lines[shown:], view_logs, context.common.output, context.terminal)
            shown = max(shown, len(lines))
            if has_ended:
                return None
            await trio.sleep(FOLLOW_SECONDS)
