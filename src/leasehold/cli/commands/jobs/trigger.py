"""`leasehold jobs trigger`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.commands.jobs.bulk import ScheduledMatching, change_matching
from leasehold.cli.commands.jobs.change import JobId, MoreIds
from leasehold.cli.commands.jobs.job_change import JobChange, view_changes
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.records.jobs import ChangedJob


@shown_as(view_changes)
async def jobs_trigger(
    job_id: JobId | None = None,
    /,
    *more: MoreIds,
    matching: Annotated[ScheduledMatching, Parameter(name="*")] = ScheduledMatching(),  # noqa: B008
    context: Annotated[CommandContext, INJECTED],
) -> list[JobChange] | list[ChangedJob]:
    """Run scheduled jobs now: all of the named ones, or none.

    Includes jobs that wait for their next attempt. Prints the state that each job was in and is in now. Instead of ids,
    flags choose all jobs that match; try them with --dry-run.

    Example:
      leasehold jobs trigger 42 43
      leasehold jobs trigger --kind crawl --error-type TimeoutError --dry-run
    """
    ids = (*([job_id] if job_id is not None else []), *more)
    is_bulk = matching.is_meant(ids)
    async with context.client() as client:
        if is_bulk:
            return await change_matching(context, client.jobs.trigger_all, matching.filters(), "triggered")
        states = await client.jobs.trigger_many(ids)
    return [JobChange(job_id=each, changed=True, was="scheduled", now=state) for each, state in states.items()]
