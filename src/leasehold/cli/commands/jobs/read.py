"""`leasehold jobs list` and `leasehold jobs show`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from leasehold.cli.commands.jobs.enqueue import parse_object
from leasehold.cli.commands.jobs.view import JobReport, view_job, view_jobs
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.records.jobs import JobRecord

STATES_TO_WONDER_AT = ("pending", "waiting", "blocked", "scheduled")
WONDER_AFTER = timedelta(minutes=1)


@shown_as(view_jobs)
async def jobs_list(
    *,
    state: Annotated[str | None, Parameter(help="Only jobs in this state.")] = None,
    queue: Annotated[str | None, Parameter(help="Only jobs of this queue.")] = None,
    kind: Annotated[str | None, Parameter(help="Only jobs of this kind.")] = None,
    key: Annotated[str | None, Parameter(help="Only jobs with this key.")] = None,
    args: Annotated[str | None, Parameter(help="Only jobs whose args contain this JSON object.")] = None,
    metadata: Annotated[str | None, Parameter(help="Only jobs whose metadata contain this JSON object.")] = None,
    before: Annotated[
        int | None, Parameter(help="Only ids below this one: the last id of the page before."), AN_ID
    ] = None,
    limit: Annotated[int, Parameter(help="Jobs per page, up to 1000.", validator=Number(gte=1, lte=1000))] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> list[JobRecord]:
    """List jobs, newest first.

    Example:
      leasehold jobs list --state failed --queue crawl
      leasehold jobs list --metadata '{"state_code": "AZ"}'
      leasehold jobs list --before 1200 --limit 20
    """
    within = None if args is None else parse_object("args", args)
    about = None if metadata is None else parse_object("metadata", metadata)
    async with context.client() as client:
        jobs = await client.jobs.list(
            state=state, queue=queue, kind=kind, key=key, args=within, metadata=about, before_id=before, page_size=limit
        )
    if len(jobs) == limit:
        context.say(f"more: --before {jobs[-1].id}")
    return jobs


@shown_as(view_job)
async def jobs_show(job_id: Annotated[int, AN_ID], /, *, context: Annotated[CommandContext, INJECTED]) -> JobReport:
    """Show all about one job: args, output or error, and its timeline.

    Example:
      leasehold jobs show 42
      leasehold jobs show 42 --output json
    """
    async with context.client() as client:
        job = await client.get(job_id)
        if is_slow_to_start(job, context.terminal.now()):
            context.say(f"why it is not running: leasehold jobs why {job_id}")
        return JobReport(
            job=job, timeline=await client.jobs.timeline(job_id), progress=await client.jobs.progress(job_id)
        )


def is_slow_to_start(job: JobRecord, now: datetime) -> bool:
    """Whether people may wonder why the job is not running."""
    return job.state in STATES_TO_WONDER_AT and now - job.run_at > WONDER_AFTER
