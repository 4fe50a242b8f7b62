"""Results as people read them on a terminal: one function per record type, looked up by `view`.

Words: column heads are lower case; ages are relative ("3m ago"), instants in a detail view are UTC. Data is shown as
plain text with control characters escaped, so that args or errors cannot drive the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol, cast, runtime_checkable

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.access.records import AuditEntry, TokenRecord
from leasehold.cli.commands.chains.read import ChainReport
from leasehold.cli.commands.chains.view import view_chain, view_chains
from leasehold.cli.commands.jobs.edit import view_errors
from leasehold.cli.commands.jobs.log_view import view_logs
from leasehold.cli.commands.jobs.view import view_job, view_jobs
from leasehold.cli.commands.jobs.why import WhyReport, view_why
from leasehold.cli.commands.observe.audit import view_faults
from leasehold.cli.commands.observe.event_view import view_events
from leasehold.cli.commands.observe.status_view import view_status
from leasehold.cli.commands.queues.limits import view_limits
from leasehold.cli.commands.queues.view import view_queues
from leasehold.cli.commands.schedules.read import PreviewReport, ScheduleReport
from leasehold.cli.commands.schedules.view import view_fired, view_history, view_preview, view_schedule, view_schedules
from leasehold.cli.commands.tokens.view import view_log, view_tokens
from leasehold.cli.commands.workers.read import WorkerReport
from leasehold.cli.commands.workers.view import view_worker, view_workers
from leasehold.cli.views import results
from leasehold.cli.views.text import fields_table, plain, state_text, table
from leasehold.client.feed.changes import Change
from leasehold.records.chains import ChainRecord
from leasehold.records.jobs import AttemptError, ChangedJob, Fault, JobRecord, LogLine
from leasehold.records.queues import LimitRecord, QueueRecord
from leasehold.records.workers import WorkerRecord
from leasehold.schedules.records import FiredTick, ScheduleRecord, TickRecord
from leasehold.settings import ExplainedSetting

VERDICTS = {"ok": "green", "advice": "yellow", "problem": "bold red", "skipped": "dim"}

View = Callable[[Any, datetime], Sequence[RenderableType]]


@runtime_checkable
class Viewable(Protocol):
    """A result that brings its own view."""

    def view(self) -> Sequence[RenderableType]:
        """What to print, part by part."""
        ...


def view(value: object, now: datetime) -> Sequence[RenderableType]:
    """What to print for `value`, part by part. A list is viewed by the type of its first element."""
    if isinstance(value, str):
        return [Text(value)]
    if isinstance(value, Viewable):
        return value.view()
    if isinstance(value, list):
        elements = cast("list[object]", value)
        found = LIST_VIEWS.get(type(elements[0]))
        return found(elements, now) if found else [part for each in elements for part in view(each, now)]
    found = VIEWS.get(type(value))
    return found(value, now) if found else [fields_table(msgspec.structs.asdict(cast(msgspec.Struct, value)))]


def view_checks(checks: list[results.Check], _now: datetime) -> Sequence[RenderableType]:
    """One line per check, with the advice below."""
    shown = Table.grid(padding=(0, 2))
    for check in checks:
        shown.add_row(Text(check.verdict, VERDICTS[check.verdict]), Text(check.name), plain(check.detail))
        if check.advice:
            shown.add_row("", "", Text("→ " + check.advice, "dim"))
    return [shown]


def view_settings(settings: list[ExplainedSetting], _now: datetime) -> Sequence[RenderableType]:
    """name, value, origin."""
    rows = [[each.name, plain(each.value), _faint_default(each.origin)] for each in settings]
    return [table(["setting", "value", "from"], rows)]


def view_changes(changes: list[results.JobChange], _now: datetime) -> Sequence[RenderableType]:
    """One line per id."""
    rows = [
        [
            str(each.job_id),
            "changed" if each.changed else "skipped",
            state_text(each.was or "-"),
            state_text(each.now or "-"),
            plain(each.reason or ""),
        ]
        for each in changes
    ]
    return [table(["job", "result", "was", "now", "why"], rows)]


def view_bulk_changes(changes: list[ChangedJob], _now: datetime) -> Sequence[RenderableType]:
    """One line per job, with what it is."""
    rows = [
        [
            str(each.job_id),
            plain(each.kind or "-"),
            plain(each.queue or "-"),
            "changed" if each.changed else "skipped",
            state_text(each.was or "-"),
            state_text(each.now or "-"),
            plain(each.reason or ""),
        ]
        for each in changes
    ]
    return [table(["job", "kind", "queue", "result", "was", "now", "why"], rows)]


def view_migration(report: results.SchemaChange, _now: datetime) -> Sequence[RenderableType]:
    """One line per change, or one sentence."""
    version = f"version {report.to_version}"
    if report.is_empty:
        return [Text(f"the schema is at {version}; nothing to do")]
    verb = "would bring" if report.dry_run else "brought"
    lines = [f"{verb} the schema from version {report.from_version} to {version}"]
    lines += [f"  migration {title}" for title in report.migrations]
    lines += [f"  {what} {', '.join(names)}" for what, names in _replaced(report) if names]
    return [plain(line) for line in lines]


def _replaced(report: results.SchemaChange) -> list[tuple[str, tuple[str, ...]]]:
    return [("views", report.views), ("functions", report.functions), ("removed", report.removed)]


def view_queue_change(change: results.QueueChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    state = "paused" if change.paused else "running"
    return [plain(f"queue {change.queue} {'is now' if change.changed else 'was already'} {state}")]


def view_wake(report: results.WakeReport, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [plain(f"woke the workers of queue {report.queue}" if report.queue else "woke all workers")]


def view_reap(report: results.ReapReport, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [Text(f"took back {report.reaped} job{'' if report.reaped == 1 else 's'}")]


def view_enqueued(report: results.EnqueueReport, _now: datetime) -> Sequence[RenderableType]:
    """The bare id, so that a shell can keep it."""
    return [Text(str(report.job_id))]


def _faint_default(origin: str) -> Text:
    return Text(origin, "dim" if origin == "default" else "")


VIEWS: dict[type, View] = {
    results.JobChange: lambda change, now: view_changes([change], now),
    results.SchemaChange: view_migration,
    results.StatusReport: view_status,
    results.JobReport: view_job,
    WhyReport: view_why,
    ChainReport: view_chain,
    ChainRecord: lambda chain, now: view_chains([chain], now),
    ScheduleReport: view_schedule,
    FiredTick: view_fired,
    ScheduleRecord: lambda schedule, now: view_schedules([schedule], now),
    PreviewReport: view_preview,
    WorkerReport: view_worker,
    WorkerRecord: lambda worker, now: view_workers([worker], now),
    results.QueueChange: view_queue_change,
    results.WakeReport: view_wake,
    results.ReapReport: view_reap,
    results.EnqueueReport: view_enqueued,
}
LIST_VIEWS: dict[type, View] = {
    LogLine: view_logs,
    results.SchemaChange: view_migration,
    JobRecord: view_jobs,
    ChainRecord: view_chains,
    ScheduleRecord: view_schedules,
    TickRecord: view_history,
    Fault: view_faults,
    WorkerRecord: view_workers,
    QueueRecord: view_queues,
    LimitRecord: view_limits,
    TokenRecord: view_tokens,
    AuditEntry: view_log,
    Change: view_events,
    ExplainedSetting: view_settings,
    results.JobChange: view_changes,
    ChangedJob: view_bulk_changes,
    AttemptError: view_errors,
    results.Check: view_checks,
}
