"""What a demo found out, whether it is what was promised, and how people see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import quantiles

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.demo.observer import RecoveredJob, RunJob
from leasehold.demo.stdlib_census.handlers import Interpreter
from leasehold.demo.stdlib_census.measures import FileMeasures, Totals, total

MEGABYTE = 1_000_000


class Pickup(msgspec.Struct, frozen=True):
    """Milliseconds from enqueue to start of a number of jobs."""

    jobs: int
    p50_ms: float
    p99_ms: float


class Recovery(msgspec.Struct, frozen=True):
    """What became of the jobs that the killed worker held: seconds from the kill until they had started again."""

    worker: str
    jobs: int
    first_seconds: float
    last_seconds: float
    lease_seconds: float


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

    @property
    def interpreter_line(self) -> str:
        """`CPython 3.11.7, Linux, 2 processors`."""
        found = self.interpreter
        return f"{found.python}, {found.system}, {found.processors} processors" if found else "Python unknown"


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged. `acknowledged` are the ids that producers got; `plain` is the count without jobs."""

    jobs: Sequence[RunJob]
    acknowledged: Sequence[int]
    retries: int
    stumbles: int
    victim: str
    killed_at: datetime
    lease_seconds: float
    recovered: Sequence[RecoveredJob]
    plain: Mapping[str, FileMeasures]
    reported: Mapping[str, FileMeasures]
    ended_badly: Sequence[str]

    @property
    def measured(self) -> list[RunJob]:
        """The jobs of files."""
        return [job for job in self.jobs if job.kind == "census.measure"]

    @property
    def lost(self) -> int:
        """Acknowledged jobs and files without a completed job, and a missing report."""
        done = [job for job in self.jobs if job.state == "completed"]
        files, kinds = {job.file for job in done}, {job.kind for job in done}
        missing = [*({*self.acknowledged} - {job.id for job in done}), *(self.plain.keys() - files)]
        return len(missing) + ("census.report" not in kinds)

    @property
    def recovery(self) -> Recovery:
        """From the kill until started again."""
        spans = [(job.again_at - self.killed_at).total_seconds() for job in self.recovered if job.again_at is not None]
        return Recovery(self.victim, len(spans), min(spans, default=0.0), max(spans, default=0.0), self.lease_seconds)


def judge(found: Findings) -> tuple[DemoCheck, ...]:
    """Every promise of the demo."""
    completed = [job.id for job in found.jobs if job.state == "completed"]
    doubles = len(completed) - len({*completed})
    recovery = found.recovery
    stumbled = [job for job in found.measured if job.attempt > found.stumbles and job.state == "completed"]
    sums = total(found.reported.values())
    return (
        DemoCheck(
            "nothing lost", found.lost == 0, f"{len(completed):,} jobs acknowledged and completed, {found.lost} lost"
        ),
        DemoCheck("nothing twice", doubles == 0, f"{doubles} jobs completed twice"),
        DemoCheck(
            "same totals",
            dict(found.reported) == dict(found.plain),
            f"{sums.files:,} files, {sums.lines:,} lines; plain count: {len(found.plain):,} files, "
            f"{total(found.plain.values()).lines:,} lines",
        ),
        DemoCheck(
            "killed worker",
            recovery.jobs == len(found.recovered) > 0,
            f"{recovery.jobs} of {len(found.recovered)} jobs of {found.victim} started again",
        ),
        DemoCheck(
            "failing handler",
            found.retries >= found.stumbles and bool(stumbled),
            f"{found.retries} failed attempts, then {'success' if stumbled else 'no success'}",
        ),
        DemoCheck(
            "orderly end",
            not found.ended_badly,
            f"ended badly: {', '.join(found.ended_badly)}" if found.ended_badly else "every process drained",
        ),
    )


def pickup_of(jobs: Sequence[RunJob]) -> Pickup:
    """Enqueue to start of those that needed one attempt only; the others' times tell of their troubles."""
    waits = [
        (job.started_at - job.created_at).total_seconds() * 1000
        for job in jobs
        if job.started_at is not None and job.attempt == 1
    ]
    if len(waits) < 2:
        return Pickup(len(waits), *(waits * 2 or [0.0, 0.0]))
    percentiles = quantiles(waits, n=100, method="inclusive")
    return Pickup(len(waits), round(percentiles[49], 3), round(percentiles[98], 3))


def span_of(jobs: Sequence[RunJob]) -> float:
    """Seconds from the first enqueue to the last end."""
    ends = [job.finished_at for job in jobs if job.finished_at is not None]
    return (max(ends) - min(job.created_at for job in jobs)).total_seconds() if ends else 0.0


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
        Text("its dashboard has ended with it; `leasehold up` has one that stays, and prints its address first", "dim"),
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
