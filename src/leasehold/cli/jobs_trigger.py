"""`leasehold jobs trigger`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.context import Context
from leasehold.cli.jobs_change import JobId, MoreIds
from leasehold.cli.options import INJECTED
from leasehold.cli.results import JobChange


async def jobs_trigger(job_id: JobId, /, *more: MoreIds, context: Annotated[Context, INJECTED]) -> list[JobChange]:
    """Run scheduled jobs now, all of them or none.

    Also those that wait for their next attempt. Prints the state that each job was in and is in now.

    Example:
      leasehold jobs trigger 42 43
    """
    async with context.client() as client:
        states = await client.trigger_many((job_id, *more))
    return [JobChange(job_id=each, changed=True, was="scheduled", now=state) for each, state in states.items()]
