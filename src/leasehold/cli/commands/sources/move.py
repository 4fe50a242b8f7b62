"""`leasehold import run`, `import seal`, `import open` and `import schedules`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.commands.sources.view import SealChange, view_migration, view_schedules, view_seal
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.client import sources_of
from leasehold.errors import BadInput
from leasehold.moving.records import MovedSchedule, MoveReport


@shown_as(view_migration)
async def import_run(
    source: str | None = None,
    /,
    *,
    yes: Annotated[bool, Parameter(help="Do it.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> MoveReport:
    """Move a source in: seal it, move its schedules and its pending jobs.

    Each row is ended there in the transaction that makes its job here. A run that was broken off goes on with the next one.
    The source stays sealed; run it again for what has arrived there since.

    Example:
      leasehold import plan procrastinate
      leasehold import run procrastinate --yes
    """
    if not yes:
        raise BadInput("this moves jobs and schedules: look with  leasehold import plan,  then add --yes")
    async with context.client() as client:
        return await sources_of(client).migrate(source)


@shown_as(view_schedules)
async def import_schedules(
    source: str | None = None,
    /,
    *,
    disable: Annotated[bool, Parameter(help="Disable them there, and make none here.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[MovedSchedule]:
    """Move the schedules of a source only, or disable them there.

    Example:
      leasehold import schedules celery_beat
    """
    async with context.client() as client:
        return await sources_of(client).move_schedules(source, only_disable=disable)


@shown_as(view_seal)
async def import_seal(source: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> SealChange:
    """Have a source's own workers claim nothing more; what they run goes on.

    Example:
      leasehold import seal procrastinate
    """
    async with context.client() as client:
        return SealChange(sealed=True, changed=await sources_of(client).seal(source))


@shown_as(view_seal)
async def import_open(source: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> SealChange:
    """Let a source's own workers claim again; what has moved stays here.

    Example:
      leasehold import open procrastinate
    """
    async with context.client() as client:
        return SealChange(sealed=False, changed=await sources_of(client).open(source))
