"""`leasehold status`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.context import Context
from leasehold.cli.options import INJECTED
from leasehold.cli.results import PausedQueue, StatusReport

PAUSED_QUEUES = "select queue, paused_at, reason from leasehold.queues where paused_at is not null order by queue"


async def status(*, context: Annotated[Context, INJECTED]) -> StatusReport:
    """Show the queues with their jobs by state, and the workers.

    Example:
      leasehold status
      leasehold status --output json
    """
    async with context.database() as database:
        client = context.services.client(database)
        paused = [PausedQueue(**dict(row)) for row in await database.fetch(PAUSED_QUEUES)]
        return StatusReport(queues=await client.counts(), paused=paused, workers=await client.workers())
