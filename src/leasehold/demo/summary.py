"""What a demo found out, whether it is what was promised, and how people see it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.demo.run import STUMBLES, CensusRun, Pickup, Recovery, pickup_of, span_of
from leasehold.demo.stage import grid
from leasehold.demo.stdlib_census.handlers import Interpreter
from leasehold.demo.stdlib_census.measures import Totals, total

MEGABYTE = 1_000_000


class DemoCheck(msgspec.Struct, frozen=True):
    """One promise."""

    name: str
    passed: bool
    detail: str


class DemoReport(msgspec.Struct, frozen=True, kw_only=True):
    """The summary of a demo.

    `pickup` is of jobs sent one after the other to idle workers; `backlog` of the file jobs, which all arrive at once and
    wait for their turn. `census_seconds` run from the first enqueue to the written report; `plain_seconds` is what
    measuring the same files takes in one process without jobs. `report` is the file that the census's report was kept in.
    """

    passed: bool
    checks: tuple[DemoCheck, ...]
    run: str
    interpreter: Interpreter | None
    workers: int
    jobs: int
    jobs_per_second: float
    census_seconds: float
    plain_seconds: float
    pickup: Pickup
    backlog: Pickup
    retries: int
    recovery: Recovery
    lost: int
    totals: Totals
    report: str | None
    seconds: float


def judge(run: CensusRun) -> tuple[DemoCheck, ...]:
    """Every promise of the demo."""
    completed, recovery, taken_back = run.completed, run.recovery, len(run.taken_back)
    doubles = len(completed) - len({job.id for job in completed})
    stumbled = any(job.attempt > STUMBLES and job.kind == "census.measure" for job in completed)
    found, plain = total(run.reported.values()), total(run.plain.values())
    counts = f"{found.files:,} files, {found.lines:,} lines; plain count: {plain.files:,} files, {plain.lines:,} lines"
    bad = ", ".join(run.ended_badly)
    return (
        DemoCheck(
            "nothing lost", run.lost == 0, f"{len(completed):,} jobs acknowledged and completed, {run.lost} lost"
        ),
        DemoCheck("nothing twice", doubles == 0, f"{doubles} jobs completed twice"),
        DemoCheck("same totals", run.reported == run.plain, counts),
        DemoCheck(
            "killed worker",
            recovery.jobs == taken_back > 0,
            f"{recovery.jobs} of {taken_back} jobs of {run.victim} started again",
        ),
        DemoCheck(
            "failing handler",
            run.retries >= STUMBLES and stumbled,
            f"{run.retries} failed attempts, then {'success' if stumbled else 'no success'}",
        ),
        DemoCheck("orderly end", not bad, f"ended badly: {bad}" if bad else "every process drained"),
    )


def make_report(run: CensusRun, workers: int, kept: Path | None, seconds: float) -> DemoReport:
    """The summary of a run that has ended, on so many workers; `seconds` is how long the demo took."""
    checks = judge(run)
    census = [job for job in run.jobs if job.kind != "census.knock"]
    described = [job.output for job in run.ended("describe") if job.output]
    return DemoReport(
        passed=all(check.passed for check in checks),
        checks=checks,
        run=run.name,
        interpreter=msgspec.convert(described[0], Interpreter) if described else None,
        workers=workers,
        jobs=len(run.completed),
        jobs_per_second=len(census) / (span_of(census) or 1.0),
        census_seconds=span_of(census),
        plain_seconds=run.plain_seconds,
        pickup=pickup_of(run.of_kind("knock")),
        backlog=pickup_of(run.of_kind("measure")),
        retries=run.retries,
        recovery=run.recovery,
        lost=run.lost,
        totals=total(run.reported.values()),
        report=str(kept) if kept else None,
        seconds=seconds,
    )


def view_demo(report: DemoReport) -> Sequence[RenderableType]:
    """What was measured, then what was promised."""
    figures = [(Text(name, "bold"), Text(value, "cyan"), Text(note, "dim")) for name, value, note in figures_of(report)]
    checks = [
        (Text("✓", "green") if check.passed else Text("✗", "bold red"), Text(check.name), Text(check.detail))
        for check in report.checks
    ]
    verdict = Text("passed", "bold green") if report.passed else Text("FAILED", "bold red")
    return [
        Text(),
        grid(*figures),
        Text(),
        grid(*checks),
        Text(),
        Text("the demo ").append_text(verdict),
        *([Text(f"report: {report.report}")] if report.report else []),
        Text("its dashboard has ended with it; `leasehold up` has one that stays, and prints its address first", "dim"),
    ]


def figures_of(report: DemoReport) -> list[tuple[str, str, str]]:
    """Name, value and what exactly that is."""
    totals, recovery, ran = report.totals, report.recovery, report.interpreter
    python = f"{ran.python}, {ran.system}, {ran.processors} processors" if ran else "Python unknown"
    plain = f"{report.plain_seconds:.1f} s in one plain process"
    return [
        ("jobs", f"{report.jobs:,}", f"on {report.workers} worker processes, {python}"),
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
