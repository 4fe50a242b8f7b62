"""`leasehold migrate`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from cyclopts import Parameter

from leasehold.cli.shell.context import Context
from leasehold.cli.shell.options import INJECTED
from leasehold.cli.views.results import SchemaChange
from leasehold.errors import BadInput


async def migrate(
    *,
    dry_run: Annotated[bool, Parameter(help="Only tell what would be done.", negative=())] = False,
    to: Annotated[int | None, Parameter(help="Stop after this migration.")] = None,
    emit: Annotated[bool, Parameter(help="Print the whole schema as SQL; needs no database.", negative=())] = False,
    context: Annotated[Context, INJECTED],
) -> SchemaChange | None:
    """Bring the schema in the database up to date.

    Doing it again changes nothing; any number may run at once. Without a database it makes an embedded one.

    Example:
      leasehold migrate --dry-run
      leasehold migrate
      leasehold migrate --emit > schema.sql
    """
    if emit:
        if dry_run or to is not None:
            raise BadInput("--emit prints the whole schema; it goes with neither --dry-run nor --to")
        context.terminal.stdout.write(context.services.emit())
        return None
    dsn = context.direct_dsn(create=not dry_run)
    report = await context.services.migrate(dsn, to=to, dry_run=dry_run)
    return msgspec.convert(report, SchemaChange, from_attributes=True)
