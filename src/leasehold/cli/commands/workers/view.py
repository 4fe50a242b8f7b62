"""Workers as people read them: a table of many, all about one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views.durations import show_span
from leasehold.cli.views.text import ago, fields_table, json_text, plain, show_instant, state_text, table
from leasehold.observability.sizes import show_bytes
from leasehold.records.workers import CommandRecord, WorkerRecord

MOST_NAMED = 3


class WorkerReport(msgspec.Struct, frozen=True, kw_only=True):
    """One worker, and the last commands to it."""

    worker: WorkerRecord
    commands: list[CommandRecord]


def view_workers(workers: list[WorkerRecord], _now: datetime) -> Sequence[RenderableType]:
    """One line per worker, with what is odd about it at its end."""
    heads = ["worker", "name", "state", "jobs", "queues", "memory", "cpu", "heartbeat", "note"]
    rows = [
        [
            plain(each.worker_id),
            plain(each.name),
            state_text(each.state),
            f"{each.active_jobs}/{each.slots}",
            plain(", ".join(each.queues) or "all"),
            _share(each.memory),
            _share(each.cpu),
            f"{show_span(each.silent_for)} ago" if each.stopped_at is None else "-",
            plain("; ".join(notes(each)), "yellow"),
        ]
        for each in workers
    ]
    return [table(heads, rows, right=("jobs", "memory", "cpu"))]


def view_worker(report: WorkerReport, now: datetime) -> Sequence[RenderableType]:
    """Field by field, then the commands."""
    worker = report.worker
    fields = {
        "worker": plain(worker.worker_id),
        "name": plain(worker.name),
        "state": state_text(worker.state),
        "note": plain("; ".join(notes(worker)), "yellow") if notes(worker) else None,
        "process": plain(f"{worker.pid} on {worker.host}"),
        "incarnation": str(worker.incarnation),
        "leasehold": worker.version,
        "app version": worker.app_version,
        "queues": plain(", ".join(worker.queues) or "all"),
        "kinds": plain(", ".join(worker.kinds) or "all"),
        "jobs": plain(f"{worker.active_jobs} in {worker.slots} slots{_ids(worker)}"),
        "memory": _resource(worker.memory, show_bytes(worker.memory_limit or 0)),
        "cpu": _resource(worker.cpu, f"{worker.cpu_limit or 0:g} CPUs"),
        "started": show_instant(worker.started_at),
        "heartbeat": f"{show_span(worker.silent_for)} ago",
        "stopped": worker.stopped_at and show_instant(worker.stopped_at),
    }
    commands = [Text(), _commands(report.commands, now)] if report.commands else []
    return [fields_table(fields), *commands]


def notes(worker: WorkerRecord) -> list[str]:
    """What is odd about a worker, in words."""
    found: list[str] = []
    if worker.backoff is not None:
        found.append(f"backing off: {worker.backoff}")
    if worker.outdated:
        found.append("outdated")
    if worker.lost_wake_ups:
        found.append(f"{worker.lost_wake_ups:,} lost wake-ups")
    if worker.missing_kinds:
        named = ", ".join(worker.missing_kinds[:MOST_NAMED]) + (", …" if len(worker.missing_kinds) > MOST_NAMED else "")
        found.append(f"no handler for {named}")
    return found


def _commands(commands: list[CommandRecord], now: datetime) -> RenderableType:
    rows = [
        [
            str(each.id),
            plain(" ".join([each.command, *(f"{name}={value}" for name, value in each.args.items())])),
            state_text(each.state),
            ago(each.created_at, now),
            plain(each.error or _short(each.result)),
        ]
        for each in commands
    ]
    return table(["command", "what", "state", "told", "answer"], rows)


def _short(result: object) -> str:
    text = " ".join(json_text(result).split()) if result is not None else ""
    return text if len(text) <= 60 else f"{text[:59]}…"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _resource(share: float | None, limit: str) -> str | None:
    return None if share is None else f"{share:.0%} of {limit}"


def _ids(worker: WorkerRecord) -> str:
    shown = ", ".join(map(str, worker.active_job_ids[:20]))
    return f": {shown}{', …' if len(worker.active_job_ids) > 20 else ''}" if shown else ""
