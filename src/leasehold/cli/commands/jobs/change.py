"""`leasehold jobs cancel` and `leasehold jobs retry`: several ids, or all jobs that match, each changed or skipped with the
reason.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from leasehold.cli.commands.jobs.bulk import FinishedMatching, UnfinishedMatching, change_matching
from leasehold.cli.commands.jobs.job_change import JobChange, view_changes
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode, exit_code_of
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import Outcome, shown_as
from leasehold.errors import Conflict, NotFound
from leasehold.records.jobs import ChangedJob

if TYPE_CHECKING:
    from leasehold.client import Client

JobId = Annotated[int, Parameter(help="Id of a job."), AN_ID]
MoreIds = Annotated[int, Parameter(help="More ids."), AN_ID]


@shown_as(view_changes)
async def jobs_cancel(
    job_id: JobId | None = None,
    /,
    *more: MoreIds,
    reason: Annotated[str | None, Parameter(help="For people; stands in the job's error.")] = None,
    matching: Annotated[UnfinishedMatching, Parameter(name="*")] = UnfinishedMatching(),  # noqa: B008
    context: Annotated[CommandContext, INJECTED],
) -> Outcome[list[JobChange]] | list[ChangedJob]:
    """Cancel jobs that have not finished.

    A running handler is told to stop. Prints the state that each job was in and is in now; the exit code is that of the
    first id skipped. Instead of ids, flags choose all jobs that match; try them with --dry-run.

    Example:
      leasehold jobs cancel 42 43 --reason "wrong shop"
      leasehold jobs cancel --queue crawl --state scheduled --dry-run
    """
    ids = (*([job_id] if job_id is not None else []), *more)
    is_bulk = matching.is_meant(ids)
    async with context.client() as client:
        if is_bulk:
            filters = {**matching.filters(), "reason": reason}
            return await change_matching(context, client.jobs.cancel_all, filters, "cancelled")

        async def cancel(each: int) -> JobChange:
            return JobChange(job_id=each, changed=True, was=await client.cancel(each, reason), now="cancelled")

        return await change_each(client, ids, cancel)


@shown_as(view_changes)
async def jobs_retry(
    job_id: JobId | None = None,
    /,
    *more: MoreIds,
    matching: Annotated[FinishedMatching, Parameter(name="*")] = FinishedMatching(),  # noqa: B008
    context: Annotated[CommandContext, INJECTED],
) -> Outcome[list[JobChange]] | list[ChangedJob]:
    """Run failed or cancelled jobs once more.

    The count of attempts goes on; a scheduled job becomes due. Prints the state that each job was in and is in now; the
    exit code is that of the first id skipped. Instead of ids, flags choose all jobs that match; try them with --dry-run.

    Example:
      leasehold jobs retry 42 43
      leasehold jobs retry --failed --kind crawl --error-type TimeoutError --dry-run
    """
    ids = (*([job_id] if job_id is not None else []), *more)
    is_bulk = matching.is_meant(ids)
    async with context.client() as client:
        if is_bulk:
            return await change_matching(context, client.jobs.retry_all, matching.filters(), "retried")

        async def retry(each: int) -> JobChange:
            was = (await client.get(each)).state
            return JobChange(job_id=each, changed=True, was=was, now=await client.retry(each))

        return await change_each(client, ids, retry)


async def change_each(
    client: Client, ids: Sequence[int], change: Callable[[int], Awaitable[JobChange]]
) -> Outcome[list[JobChange]]:
    """Apply `change` to each id; what the database refuses is reported and the rest goes on."""
    changes: list[JobChange] = []
    codes: list[ExitCode] = []
    for job_id in ids:
        try:
            changes.append(await change(job_id))
        except (NotFound, Conflict) as refusal:
            state = (await client.get(job_id)).state if isinstance(refusal, Conflict) else None
            changes.append(JobChange(job_id=job_id, changed=False, was=state, now=state, reason=str(refusal)))
            codes.append(exit_code_of(refusal))
    return Outcome(changes, codes[0] if codes else ExitCode.DONE)
