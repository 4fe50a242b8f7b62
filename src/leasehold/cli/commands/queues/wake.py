"""`leasehold wake`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.commands.queues.hints import hint_at_unknown
from leasehold.cli.shell.context import Context
from leasehold.cli.shell.options import INJECTED
from leasehold.cli.views.results import WakeReport


async def wake(queue: str | None = None, /, *, context: Annotated[Context, INJECTED]) -> WakeReport:
    """Make workers look for jobs now.

    Those of one queue, or all: the same as NOTIFY leasehold, 'wake:QUEUE' or 'wake'.

    Example:
      leasehold wake
      leasehold wake crawl
    """
    async with context.client() as client:
        await client.queues.wake(queue)
        if queue is not None:
            await hint_at_unknown(context, client, queue)
    return WakeReport(queue=queue)
