"""`leasehold demo`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import Outcome, shown_as
from leasehold.errors import BadInput

if TYPE_CHECKING:
    from leasehold.demo.summary import DemoReport


def view_report(report: DemoReport, _now: datetime) -> Sequence[RenderableType]:
    """What the demo measured, and whether it kept its promises."""
    from leasehold.demo.view import view_demo  # noqa: PLC0415

    return view_demo(report)


@shown_as(view_report)
async def demo(
    *,
    report: Annotated[Path | None, Parameter(help="Keep the report of the census in this file.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> Outcome[Any]:
    """Watch it work: real jobs on several workers, one of which is killed.

    A census of the Python standard library, one job per file. At the end the sums are compared with a plain count; exits
    with 1 if they differ or a job was lost. Without a database, embedded Postgres runs in a temporary folder, which is
    removed; the logs stay, and it says where, if something went wrong.

    Example:
      leasehold demo
      leasehold demo --report census.md
      leasehold demo --output json
    """
    if report is not None and (report.is_dir() or not report.parent.is_dir()):
        raise BadInput(f"--report must be a file in a folder that exists, not {report}")
    console = context.terminal.console(context.terminal.stderr)
    interruption = context.interruption
    with interruption.owing():
        done = await context.services.run_demo(context.settings, console, report, lambda: interruption.is_heard)
    return Outcome(done, ExitCode.DONE if done.passed else ExitCode.FAILED)
