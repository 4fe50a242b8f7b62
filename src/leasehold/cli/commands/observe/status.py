"""`leasehold status`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.commands.observe.status_view import PausedQueue, StatusReport, view_status
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as

PAUSED_QUEUES = "select queue, paused_at, reason from leasehold.queues where paused_at is not null order by queue"


@shown_as(view_status)
async def status(*, context: Annotated[CommandContext, INJECTED]) -> StatusReport:
    """Show the queues with their jobs by state, and the workers.

    A worker that has missed two heartbeats, or from which a job was taken back, is shown as stale.

    Example:
      leasehold status
      leasehold status --output json
    """
    async with context.database() as database:
        client = context.services.client(database)
        paused = [PausedQueue(**dict(row)) for row in await database.fetch(PAUSED_QUEUES)]
        counts, workers = await client.metrics.counts(), await client.workers.list()
        return StatusReport(queues=counts, paused=paused, workers=workers)
