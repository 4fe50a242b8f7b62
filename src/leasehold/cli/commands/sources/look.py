"""`leasehold import list` and `import plan`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.commands.sources.view import MovePlan, view_plan, view_sources
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.client import sources_of
from leasehold.moving.records import SourceRecord


@shown_as(view_sources)
async def import_list(*, context: Annotated[CommandContext, INJECTED]) -> list[SourceRecord]:
    """List the sources, and how much of each has moved.

    Example:
      leasehold import list
    """
    async with context.client() as client:
        return await sources_of(client).list()


@shown_as(view_plan)
async def import_plan(source: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> MovePlan:
    """Tell what moving a source would do. Nothing is changed.

    Pending rows move, all others stay. What is refused stays, too, with the reason.

    Example:
      leasehold import plan procrastinate
    """
    async with context.client() as client:
        return MovePlan(
            rows=await sources_of(client).plan(source),
            schedules=await sources_of(client).move_schedules(source, dry_run=True),
            refill=await sources_of(client).refill(source, dry_run=True),
        )
