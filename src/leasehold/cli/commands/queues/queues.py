"""`leasehold queues list`, `queues pause` and `queues resume`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.commands.queues.hints import hint_at_unknown
from leasehold.cli.commands.queues.view import view_queues
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain
from leasehold.records.queues import QueueRecord


class QueueChange(msgspec.Struct, frozen=True, kw_only=True):
    """A queue after pause or resume; `changed` is false if nothing had to be changed."""

    queue: str
    paused: bool
    changed: bool


def view_queue_change(change: QueueChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    state = "paused" if change.paused else "running"
    return [plain(f"queue {change.queue} {'is now' if change.changed else 'was already'} {state}")]


@shown_as(view_queues)
async def queues_list(*, context: Annotated[CommandContext, INJECTED]) -> list[QueueRecord]:
    """List all known queues: those with jobs, workers or limits, and paused ones.

    ready: may be claimed now; later: scheduled, waiting for a key or blocked; held: claimed or running; failed: those still
    kept; workers: live ones that serve the queue, perhaps not every kind. The note names kinds without a worker.

    Example:
      leasehold queues list
      leasehold queues list --output json
    """
    async with context.client() as client:
        return await client.queues.list()


@shown_as(view_queue_change)
async def queues_pause(
    queue: str,
    /,
    *,
    reason: Annotated[str | None, Parameter(help="For people.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> QueueChange:
    """Claim nothing more from a queue.

    Running jobs go on and jobs may still be enqueued. An unknown queue may be paused, too.

    Example:
      leasehold queues pause crawl --reason "the shop asked us to"
    """
    async with context.client() as client:
        changed = await client.queues.pause(queue, reason)
        await hint_at_unknown(context, client, queue)
        return QueueChange(queue=queue, paused=True, changed=changed)


@shown_as(view_queue_change)
async def queues_resume(queue: str, /, *, context: Annotated[CommandContext, INJECTED]) -> QueueChange:
    """Claim from a paused queue again.

    Example:
      leasehold queues resume crawl
    """
    async with context.client() as client:
        changed = await client.queues.resume(queue)
        if not changed:
            await hint_at_unknown(context, client, queue)
        return QueueChange(queue=queue, paused=False, changed=changed)
