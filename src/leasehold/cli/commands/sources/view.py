"""Sources, plans and moves as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType

from leasehold.cli.views.text import plain, show_instant, table
from leasehold.moving.records import MovedSchedule, MoveReport, PlanLine, RefilledJobs, SourceRecord


class MovePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What moving a source would do with its rows, and with each of its schedules, and which jobs it would make besides."""

    rows: list[PlanLine]
    schedules: list[MovedSchedule]
    refill: list[RefilledJobs] = []


class SealChange(msgspec.Struct, frozen=True, kw_only=True):
    """A source after seal or open; `changed` is false if nothing had to be changed."""

    sealed: bool
    changed: bool


def view_sources(sources: list[SourceRecord], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["source", "sealed", "jobs", "schedules", "cancelled", "defined by"]
    rows = [
        [
            plain(each.source),
            "no" if each.sealed_at is None else show_instant(each.sealed_at),
            str(each.jobs),
            str(each.schedules),
            str(each.cancelled),
            plain(each.defined_by),
        ]
        for each in sources
    ]
    return [table(heads, rows, right=heads[2:5])]


def view_plan(plan: MovePlan, _now: datetime) -> Sequence[RenderableType]:
    """One line for each state of each table, one for each schedule, and one for each kind of job that is made besides."""
    rows = [
        [
            plain(each.source_table),
            plain(each.state or "-"),
            plain(each.means or "unknown: stays"),
            str(each.row_count),
            plain(each.complaint or ""),
        ]
        for each in plan.rows
    ]
    lines = table(["table", "state", "means", "rows", "complaint"], rows, right=["rows"], cut="complaint")
    schedules: Sequence[RenderableType] = view_schedules(plan.schedules, _now) if plan.schedules else ()
    return [lines, *schedules, *(plain(line) for line in _refill_lines(plan.refill, "to make"))]


def view_schedules(schedules: list[MovedSchedule], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    rows = [[plain(cell or "") for cell in (each.name, each.outcome, each.complaint)] for each in schedules]
    return [table(["schedule", "outcome", "complaint"], rows, cut="complaint")]


def view_migration(report: MoveReport, now: datetime) -> Sequence[RenderableType]:
    """One line for each table and kind, then the schedules."""
    lines = [f"{each.source_table}: {each.moved} jobs moved, {each.cancelled} cancelled" for each in report.jobs]
    lines += _refill_lines(report.refilled, "made")
    lines += [
        f"{each.source_table}: {each.refused} refused and still there: {each.complaint}" for each in report.refused
    ]
    parts: list[RenderableType] = [plain(line) for line in lines or ["no jobs to move"]]
    return [*parts, *view_schedules(report.schedules, now)] if report.schedules else parts


def _refill_lines(refilled: Sequence[RefilledJobs], done: str) -> list[str]:
    lines = [f"{each.kind}: {each.made} jobs {done}" for each in refilled]
    return lines + [
        f"{each.kind}: {each.refused} rows refused, and get no job: {each.complaint}"
        for each in refilled
        if each.refused
    ]


def view_seal(report: SealChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    state = "sealed: its own workers claim nothing" if report.sealed else "open: its own workers may claim"
    return [plain(f"the source {'is now' if report.changed else 'was already'} {state}")]
