"""Before `leasehold up` changes a database that it did not make: which one it is, and whether that is meant."""

from __future__ import annotations

import os

import trio

from leasehold.cli.runtime.context import CommandContext
from leasehold.errors import BadInput
from leasehold.observability.logs import redact_dsn

YES = ("y", "yes")


async def agree_to_migrate(context: CommandContext, *, is_agreed: bool) -> None:
    """Name the database, unless it is an embedded one, and ask before its schema changes, unless it is empty.

    `is_agreed`: do not ask. Raises BadInput where the answer is no, or where nobody can be asked.
    """
    if context.settings.database_url is None:
        return
    name = redact_dsn(context.dsn()) or "the database of the PG* variables"
    context.say(f"the database is {name}")
    dsn = context.direct_dsn()
    plan = await context.services.migrate(dsn, context.say, dry_run=True)
    if plan.is_empty or is_agreed:
        return
    if plan.from_version:
        would = f"its schema leasehold would be brought from version {plan.from_version} to {plan.to_version}"
    elif others := await context.services.count_other_tables(dsn):
        tables = "1 table of another program" if others == 1 else f"{others} tables of other programs"
        would = f"it has {tables}, and would get a schema leasehold"
    else:
        return
    await _ask(context, f"{name}: {would}")


async def _ask(context: CommandContext, what: str) -> None:
    stdin = context.terminal.stdin
    if not stdin.isatty():
        raise BadInput(f"{what}; add --yes if that is meant, or run `leasehold migrate` first")
    context.say(f"{what}. Go on? [y/N]")
    # No thread that waits in sys.stdin: it would keep the interpreter from ending.
    await trio.lowlevel.wait_readable(stdin.fileno())
    answer = os.read(stdin.fileno(), 100).decode(errors="replace")
    if answer.strip().lower() not in YES:
        raise BadInput("nothing was changed; name another database with --database-url or LEASEHOLD_DATABASE_URL")
