"""`leasehold demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.shell.context import Context
from leasehold.cli.shell.exit_codes import ExitCode
from leasehold.cli.shell.options import INJECTED
from leasehold.cli.views.results import Outcome
from leasehold.errors import BadInput


async def demo(
    *,
    report: Annotated[Path | None, Parameter(help="Keep the report of the census in this file.")] = None,
    context: Annotated[Context, INJECTED],
) -> Outcome:
    """Watch it work: real jobs on several workers, one of which is killed.

    A census of the Python standard library, one job per file. At the end the sums are compared with a plain count; exits
    with 1 if they differ, or anything was lost. Without a database, embedded Postgres runs in a temporary folder, which
    is removed; the logs stay, and it says where, if something went wrong.

    Example:
      leasehold demo
      leasehold demo --report census.md
      leasehold demo --output json
    """
    if report is not None and (report.is_dir() or not report.parent.is_dir()):
        raise BadInput(f"--report must be a file in a folder that exists, not {report}")
    console = context.terminal.console(context.terminal.stderr)
    done = await context.services.run_demo(context.settings, console, report)
    return Outcome(done, ExitCode.DONE if done.passed else ExitCode.FAILED)
