"""A hint about unknown queues: a queue needs no row, so a mistyped name is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from leasehold.cli.runtime.context import CommandContext
from leasehold.settings.sources import suggest

if TYPE_CHECKING:
    from leasehold.client import Client

DEFAULT_QUEUE = "default"
# Counting jobs may take long in a large table, and what was asked for is done already.
HINT_SECONDS = 3.0


async def hint_at_unknown(context: CommandContext, client: Client, queue: str) -> None:
    """Say if no job is or was in this queue and no worker names it, and suggest a similar name."""
    known = {DEFAULT_QUEUE}
    with trio.move_on_after(HINT_SECONDS) as looking:
        known |= {queue for worker in await client.workers.list() for queue in worker.queues}
        if queue not in known:
            known |= {each.queue for each in await client.metrics.counts()}
    if queue not in known and not looking.cancelled_caught:
        context.say(f"note: no job and no worker knows a queue {queue}{suggest(queue, sorted(known))}")
