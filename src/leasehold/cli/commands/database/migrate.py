"""`leasehold migrate`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
import trio
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain
from leasehold.errors import BadInput
from leasehold.settings.surroundings import ends_others


class SchemaChange(msgspec.Struct, frozen=True, kw_only=True):
    """What `migrate` changed, or with `dry_run` would change."""

    from_version: int
    to_version: int
    migrations: tuple[str, ...]
    views: tuple[str, ...]
    functions: tuple[str, ...]
    removed: tuple[str, ...]
    dry_run: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.migrations or self.views or self.functions or self.removed)


def view_migration(report: SchemaChange, _now: datetime) -> Sequence[RenderableType]:
    """One line per change, or one sentence."""
    version = f"version {report.to_version}"
    if report.is_empty:
        return [Text(f"the schema is at {version}; nothing to do")]
    verb = "would bring" if report.dry_run else "brought"
    lines = [f"{verb} the schema from version {report.from_version} to {version}"]
    lines += [f"  migration {title}" for title in report.migrations]
    lines += [f"  {what} {', '.join(names)}" for what, names in _replaced(report) if names]
    return [plain(line) for line in lines]


def _replaced(report: SchemaChange) -> list[tuple[str, tuple[str, ...]]]:
    return [("views", report.views), ("functions", report.functions), ("removed", report.removed)]


@shown_as(view_migration)
async def migrate(
    *,
    dry_run: Annotated[bool, Parameter(help="Only tell what would be done.", negative=())] = False,
    to: Annotated[int | None, Parameter(help="Stop after this migration.")] = None,
    patience: Annotated[
        float | None, Parameter(help="Seconds to go on trying while somebody is in the way of a step (300).")
    ] = None,
    emit: Annotated[bool, Parameter(help="Print the whole schema as SQL; needs no database.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> SchemaChange | None:
    """Bring the schema in the database up to date.

    It may run while everything works: nobody waits for it longer than a second. What is in its way is named, and tried again.
    A second run changes nothing, and several may run at once. If no database is configured, it makes an embedded one.

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
    report = await context.services.migrate(dsn, context.say, to=to, dry_run=dry_run, patience=patience)
    if ends_others(context.terminal.environ):
        context.say(
            "the schema is up to date; staying, for honcho and foreman stop every process when one of them ends"
        )
        await trio.sleep_forever()
    return msgspec.convert(report, SchemaChange, from_attributes=True)
