"""The summary for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.demo.summary import DemoReport, Pickup

MEGABYTE = 1_000_000


def view_demo(report: DemoReport) -> Sequence[RenderableType]:
    """What was measured, then what was promised."""
    figures = Table.grid(padding=(0, 2))
    for name, value, note in figures_of(report):
        figures.add_row(Text(name, "bold"), Text(value, "cyan"), Text(note, "dim"))
    checks = Table.grid(padding=(0, 2))
    for check in report.checks:
        checks.add_row(
            Text("✓", "green") if check.passed else Text("✗", "bold red"), Text(check.name), Text(check.detail)
        )
    verdict = Text("passed", "bold green") if report.passed else Text("FAILED", "bold red")
    return [
        Text(),
        figures,
        Text(),
        checks,
        Text(),
        Text("the demo ").append_text(verdict),
        *([Text(f"report: {report.report}")] if report.report else []),
    ]


def figures_of(report: DemoReport) -> list[tuple[str, str, str]]:
    """Name, value and what exactly that is."""
    totals, recovery = report.totals, report.recovery
    plain = f"{report.plain_seconds:.1f} s in one plain process"
    return [
        ("jobs", f"{report.jobs:,}", f"on {report.workers} worker processes, {report.interpreter_line}"),
        ("throughput", f"{report.jobs_per_second:,.0f}/s", f"{report.census_seconds:.1f} s with the kill; {plain}"),
        ("enqueue → start", _show(report.pickup), f"p50 / p99 of {report.pickup.jobs} jobs, workers idle"),
        ("in the backlog", _show(report.backlog), f"p50 / p99 of {report.backlog.jobs} jobs that came at once"),
        ("retries", str(report.retries), "failed attempts that were tried again"),
        (
            "recovered",
            f"{recovery.jobs} jobs",
            f"started again {recovery.first_seconds:.1f} to {recovery.last_seconds:.1f} s after the kill; "
            f"lease {recovery.lease_seconds:g} s",
        ),
        ("lost", str(report.lost), ""),
        (
            "census",
            f"{totals.files:,} files",
            f"{totals.lines:,} lines, {totals.bytes / MEGABYTE:.1f} MB, {totals.functions:,} functions, "
            f"{totals.classes:,} classes",
        ),
    ]


def _show(pickup: Pickup) -> str:
    if pickup.p99_ms >= 1000:
        return f"{pickup.p50_ms / 1000:.1f} / {pickup.p99_ms / 1000:.1f} s"
    return f"{pickup.p50_ms:.1f} / {pickup.p99_ms:.1f} ms"
