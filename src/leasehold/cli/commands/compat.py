"""`leasehold compat …`: the tables and functions of task workers, beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import plain
from leasehold.moving.compat import compat_script, run_compat

SchemaName = Annotated[str, Parameter(help="Where their names are looked for.")]
DryRun = Annotated[bool, Parameter(help="Only print the SQL; needs no database.", negative=())]


class CompatChange(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a schema has the tables and functions of task workers now."""

    schema: str
    installed: bool


def view_compat(change: CompatChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    has = "are there now" if change.installed else "are gone, where they were ours"
    return [plain(f"worker_tasks, task_schedules, v_worker_capacity and their functions {has}; schema {change.schema}")]


@shown_as(view_compat)
async def compat_install(
    *, schema: SchemaName = "public", dry_run: DryRun = False, context: Annotated[CommandContext, INJECTED]
) -> CompatChange | None:
    """Make the views and functions of task workers: their SQL goes on working.

    worker_tasks and task_schedules can be read and written; what is written is done by the functions of leasehold. It needs
    the right to create in the schema. Nothing of somebody else's is replaced, and a second run changes nothing.

    Example:
      leasehold compat install
      leasehold compat install --schema crawler
      leasehold compat install --dry-run > compat.sql
    """
    return await _change(context, schema, dry_run=dry_run, remove=False)


@shown_as(view_compat)
async def compat_uninstall(
    *, schema: SchemaName = "public", dry_run: DryRun = False, context: Annotated[CommandContext, INJECTED]
) -> CompatChange | None:
    """Remove what `compat install` has made. Jobs and schedules stay as they are.

    Example:
      leasehold compat uninstall
      leasehold compat uninstall --schema crawler --dry-run
    """
    return await _change(context, schema, dry_run=dry_run, remove=True)


async def _change(context: CommandContext, schema: str, *, dry_run: bool, remove: bool) -> CompatChange | None:
    if dry_run:
        context.terminal.stdout.write(compat_script(schema, remove=remove))
        return None
    await context.check_schema()
    await run_compat(context.dsn(), schema, remove=remove)
    return CompatChange(schema=schema, installed=not remove)
