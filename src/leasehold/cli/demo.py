"""`leasehold demo`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.context import Context
from leasehold.cli.exit_codes import ExitCode
from leasehold.cli.options import INJECTED
from leasehold.cli.results import Outcome


async def demo(*, context: Annotated[Context, INJECTED]) -> Outcome:
    """Watch it work: real jobs on several workers, one of which is killed.

    A census of the Python standard library, one job per file. At the end the sums are compared with a plain count; exits
    with 1 if they differ, or anything was lost. Without a database, embedded Postgres runs in a temporary folder.

    Example:
      leasehold demo
      leasehold demo --output json
    """
    console = context.terminal.console(context.terminal.stderr)
    report = await context.services.run_demo(context.settings, console)
    return Outcome(report, ExitCode.DONE if report.passed else ExitCode.FAILED)
