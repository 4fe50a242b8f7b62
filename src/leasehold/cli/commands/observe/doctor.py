"""`leasehold doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.checks.checkup import check_all
from leasehold.checks.verdicts import Check
from leasehold.checks.work import check_settings
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode, exit_code_of
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import Outcome, shown_as
from leasehold.cli.views.text import plain
from leasehold.errors import LeaseholdError

VERDICTS = {"ok": "green", "advice": "yellow", "problem": "bold red", "skipped": "dim"}


def view_checks(checks: list[Check], _now: datetime) -> Sequence[RenderableType]:
    """One line per check, with the advice below."""
    shown = Table.grid(padding=(0, 2))
    for check in checks:
        shown.add_row(Text(check.verdict, VERDICTS[check.verdict]), Text(check.name), plain(check.detail))
        if check.advice:
            shown.add_row("", "", Text("→ " + check.advice, "dim"))
    return [shown]


@shown_as(view_checks)
async def doctor(*, context: Annotated[CommandContext, INJECTED]) -> Outcome[list[Check]]:
    """Examine everything and say what to do about what is wrong.

    Checks settings, database, pooler, schema, changes by hand, partitions, overdue jobs, workers, notifications, clocks,
    connections, durability, autovacuum, transactions that block vacuum, dead rows, and the disk of embedded Postgres.

    Exits with 7 if there is a problem, with 5 if the database cannot be reached, and with 2 if no database is configured.
    Advice alone does not count as a problem.

    Example:
      leasehold doctor
      leasehold doctor --output json
    """
    given = [each for each in context.explained_settings() if each.origin != "default"]
    settings = check_settings(context.settings, len(given))
    try:
        state = await context.services.schema_state(context.direct_dsn())
        async with context.database(must_fit=False) as database:
            checks = await check_all(database, state, context.settings, context.place, context.data_folder)
    except LeaseholdError as error:
        found = Check(name="database", verdict="problem", detail=str(error), advice="look at `leasehold config show`")
        return Outcome([settings, found], exit_code_of(error))
    found = [settings, *checks]
    has_problem = any(each.verdict == "problem" for each in found)
    return Outcome(found, ExitCode.FINDINGS if has_problem else ExitCode.DONE)
