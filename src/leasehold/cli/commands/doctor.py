"""`leasehold doctor` looks at the server, `leasehold audit` at the rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from leasehold.checks.checkup import check_all
from leasehold.checks.verdicts import Check
from leasehold.checks.work import check_settings
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode, exit_code_of
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import Outcome, shown_as
from leasehold.cli.views import plain, table
from leasehold.errors import LeaseholdError, StoreUnavailable
from leasehold.payloads.auditing import fault_of_store
from leasehold.records.jobs import Fault
from leasehold.validation import LONGEST_TIME

VERDICTS = {"ok": "green", "advice": "yellow", "problem": "bold red", "skipped": "dim"}


def view_checks(checks: list[Check], _now: datetime) -> Sequence[RenderableType]:
    """One line per check, with the advice below."""
    shown = Table.grid(Column(), Column(), Column(overflow="fold"), padding=(0, 2))
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
        async with context.database(must_fit=False) as database:
            checks = await check_all(database, context.settings, context.place, context.data_folder)
    except LeaseholdError as error:
        found = Check(name="database", verdict="problem", detail=str(error), advice="look at `leasehold config show`")
        return Outcome([settings, found], exit_code_of(error))
    found = [settings, *checks]
    has_problem = any(each.verdict == "problem" for each in found)
    return Outcome(found, ExitCode.FINDINGS if has_problem else ExitCode.DONE)


def view_faults(faults: list[Fault], _now: datetime) -> Sequence[RenderableType]:
    """One line per fault."""
    rows = [
        [
            Text("repaired", "green") if each.is_repaired else Text("fault", "bold red"),
            Text(each.finding),
            plain(each.subject),
            plain(each.explanation),
        ]
        for each in faults
    ]
    return [table(["", "finding", "subject", "explanation"], rows, cut="explanation")]


@shown_as(view_faults)
async def audit(
    *,
    repair: Annotated[
        bool, Parameter(help="Repair what can be repaired without a decision by people.", negative=())
    ] = False,
    grace: Annotated[
        float, Parameter(help="Seconds that something may be overdue.", validator=Number(gte=0, lte=LONGEST_TIME))
    ] = 60.0,
    context: Annotated[CommandContext, INJECTED],
) -> Outcome[list[Fault]]:
    """Find inconsistent jobs, chains and partitions, and repair them.

    It finds jobs that no worker holds although they are claimed, kinds without a worker, overdue jobs, jobs that wait for
    nothing, broken chains, and missing partitions; with a payload store, payloads without content and content without a payload.

    Reads all unfinished jobs and every finished link of a chain, so it may take a while in a large database; it locks
    nothing. A finding means that an actor does not run, that no worker serves a kind, or that rows were changed by
    hand. Jobs that wait in a paused queue are no fault.

    With --repair each fault is repaired in a transaction of its own, and the job's timeline says so. What only people can
    decide (a kind without a worker, a job blocked by a chain that failed, a chain with two ends) is reported and left.

    Exits with 7 if faults remain, with 0 if there are none or all have been repaired.

    Example:
      leasehold audit
      leasehold audit --repair --output json
    """
    async with context.client() as client:
        faults = await client.jobs.audit(repair=repair, grace=grace)
        if context.settings.payloads_store is not None:
            try:
                faults += await client.payloads.audit(repair=repair)
            except StoreUnavailable as error:  # what was found so far is told all the same
                faults.append(fault_of_store("store_unavailable", str(error)))
    remain = any(not each.is_repaired for each in faults)
    return Outcome(faults, ExitCode.FINDINGS if remain else ExitCode.DONE)
