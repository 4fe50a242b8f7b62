"""`leasehold jobs edit` and `leasehold jobs errors`: why a job failed, and what to change before it runs again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.commands.enqueue import parse_object
from leasehold.cli.commands.jobs_change import JobChange, view_changes
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.loading import load_app
from leasehold.cli.runtime.options import AN_ID, AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import parse_instant, plain
from leasehold.records.jobs import AttemptError

JobId = Annotated[int, Parameter(help="Id of a job."), AN_ID]


def view_edited(change: JobChange, now: datetime) -> Sequence[RenderableType]:
    """One line."""
    return view_changes([change], now)


def view_errors(errors: list[AttemptError], _now: datetime) -> Sequence[RenderableType]:
    """Each attempt with its error and traceback."""
    parts: list[RenderableType] = []
    for each in errors:
        parts += [Text()] if parts else []
        parts.append(
            plain(f"attempt {each.attempt}, {each.at:%Y-%m-%d %H:%M:%S} UTC, {each.worker_id or 'no worker'}", "bold")
        )
        parts.append(plain(f"{each.type}: {each.message}", "red"))
        last = f"{each.type}: {each.message}"
        lines = [line for line in (each.traceback or "").splitlines() if line.strip() and not line.endswith(last)]
        parts += [plain("  " + line) for line in lines]
    return parts


@shown_as(view_edited)
async def jobs_edit(
    job_id: JobId,
    /,
    *,
    args: Annotated[str | None, Parameter(help="New args, a JSON object.")] = None,
    priority: Annotated[int | None, Parameter(help="Higher runs first."), AN_INTEGER] = None,
    queue: Annotated[str | None, Parameter(help="Move it to this queue.")] = None,
    run_at: Annotated[str | None, Parameter(help="Not before this instant: 2030-01-31T09:30:00Z.")] = None,
    max_attempts: Annotated[int | None, Parameter(help="Attempts until it counts as failed."), AN_INTEGER] = None,
    metadata: Annotated[str | None, Parameter(help="New metadata, a JSON object.")] = None,
    reason: Annotated[str | None, Parameter(help="For people; stands in the timeline.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> JobChange:
    """Change a job before it runs, or before it is retried.

    No worker may hold it. Flags that are not given change nothing; the timeline keeps the old values. Where an app is
    configured (LEASEHOLD_APP), args are checked against its handlers.

    Example:
      leasehold jobs edit 42 --args '{"shop": 8}' --reason "wrong shop"
    """
    place = context.settings.app
    async with context.client(load_app(place) if place else None) as client:
        was = (await client.get(job_id)).state
        now = await client.jobs.edit(
            job_id,
            args=parse_object("args", args) if args is not None else None,
            priority=priority,
            queue=queue,
            run_at=parse_instant(run_at) if run_at is not None else None,
            max_attempts=max_attempts,
            metadata=parse_object("metadata", metadata) if metadata is not None else None,
            reason=reason,
        )
    return JobChange(job_id=job_id, changed=True, was=was, now=now)


@shown_as(view_errors)
async def jobs_errors(job_id: JobId, /, *, context: Annotated[CommandContext, INJECTED]) -> list[AttemptError]:
    """Show the error of each failed attempt of a job, oldest first.

    Example:
      leasehold jobs errors 42
    """
    async with context.client() as client:
        return await client.jobs.errors(job_id)
