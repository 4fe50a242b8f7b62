"""`leasehold doctor`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.checks.checkup import check_all
from leasehold.cli.checks.work import check_settings
from leasehold.cli.shell.context import Context
from leasehold.cli.shell.exit_codes import ExitCode, exit_code_of
from leasehold.cli.shell.options import INJECTED
from leasehold.cli.views.results import Check, Outcome
from leasehold.errors import LeaseholdError


async def doctor(*, context: Annotated[Context, INJECTED]) -> Outcome:
    """Examine everything and say what to do about what is wrong.

    Looks at settings, database, pooler, schema, changes by hand, partitions, overdue jobs, workers, notifications, clocks,
    connections, durability, autovacuum, who keeps vacuum from its work, dead rows, and the disk of embedded Postgres.

    Exits with 7 if there is a problem, with 5 if the database cannot be reached, and with 2 if there is none. Advice is
    no problem.

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
