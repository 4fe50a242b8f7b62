"""`leasehold wake`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from rich.console import RenderableType

from leasehold.cli.commands.queues.hints import hint_at_unknown
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain


class WakeReport(msgspec.Struct, frozen=True, kw_only=True):
    """Which queue's workers were woken; None means all."""

    queue: str | None


def view_wake(report: WakeReport, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [plain(f"woke the workers of queue {report.queue}" if report.queue else "woke all workers")]


@shown_as(view_wake)
async def wake(queue: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> WakeReport:
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
