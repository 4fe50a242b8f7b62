"""The table for people and the JSON for machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure, Result, Size
from benchmarks.machine import Machine


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One run of `python -m benchmarks`."""

    started_at: str
    size: Size
    machine: Machine
    seconds: float
    results: Mapping[str, Result]


def print_report(report: Report, console: Console) -> None:
    """The machine, then a table for each benchmark."""
    machine = report.machine
    durable = "durable" if machine.is_durable else "NOT DURABLE"
    console.print(
        f"{machine.cores} cores of {machine.processor}, {machine.memory_gb:g} GB, load {machine.load:.1f} before; "
        f"Python {machine.python}; Postgres {machine.postgres} ({durable})"
    )
    console.print(", ".join(f"{name} {value}" for name, value in sorted(machine.settings.items())))
    if report.size != "full":
        console.print(f"[bold]--{report.size}: too short for figures to be quoted[/bold]")
    for name, result in report.results.items():
        console.print(_table(name, result))


def write_report(report: Report, path: Path) -> None:
    """As JSON, with everything that the table leaves out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")


def _table(name: str, result: Result) -> Table:
    table = Table(title=name, title_justify="left", title_style="bold", min_width=100)
    table.add_column("what", ratio=1)
    for heading in ("leasehold", "raw asyncpg", "ratio", "goal"):
        table.add_column(heading, justify="right", no_wrap=True)
    for figure in result.figures:
        table.add_row(
            figure.name,
            f"{show(figure.value)} {figure.unit}",
            show(figure.floor) if figure.floor is not None else "",
            f"{figure.ratio:.2f}" if figure.ratio is not None else "",
            _goal(figure),
        )
    return table


def _goal(figure: Figure) -> str:
    if figure.meets_goal is None:
        return ""
    bound = f"≥ {figure.at_least:,g}" if figure.at_least is not None else f"≤ {figure.at_most:,g}"
    return f"{bound} [green]met[/green]" if figure.meets_goal else f"{bound} [red]missed[/red]"


def show(value: float) -> str:
    """With three significant digits or more."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
