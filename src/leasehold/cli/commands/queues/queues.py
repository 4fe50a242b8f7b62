"""`leasehold queues list`, `queues pause` and `queues resume`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.commands.queues.hints import hint_at_unknown
from leasehold.cli.shell.context import Context
from leasehold.cli.shell.options import INJECTED
from leasehold.cli.views.results import QueueChange
from leasehold.records.queues import QueueRecord


async def queues_list(*, context: Annotated[Context, INJECTED]) -> list[QueueRecord]:
    """List the queues that anybody knows of: with jobs, workers, limits, or paused.

    ready: may be claimed now; later: scheduled, waiting for a key or blocked; held: claimed or running; failed: as
    long as they are kept; workers: live ones that serve it, though maybe not every kind: the note tells what nobody serves.

    Example:
      leasehold queues list
      leasehold queues list --output json
    """
    async with context.client() as client:
        return await client.queues.list()


async def queues_pause(
    queue: str,
    /,
    *,
    reason: Annotated[str | None, Parameter(help="For people.")] = None,
    context: Annotated[Context, INJECTED],
) -> QueueChange:
    """Claim nothing more from a queue.

    Running jobs go on and jobs may still be enqueued. A queue that nobody knows yet may be paused, too.

    Example:
      leasehold queues pause crawl --reason "the shop asked us to"
    """
    async with context.client() as client:
        changed = await client.queues.pause(queue, reason)
        await hint_at_unknown(context, client, queue)
        return QueueChange(queue=queue, paused=True, changed=changed)


async def queues_resume(queue: str, /, *, context: Annotated[Context, INJECTED]) -> QueueChange:
    """Claim from a paused queue again.

    Example:
      leasehold queues resume crawl
    """
    async with context.client() as client:
        changed = await client.queues.resume(queue)
        if not changed:
            await hint_at_unknown(context, client, queue)
        return QueueChange(queue=queue, paused=False, changed=changed)
