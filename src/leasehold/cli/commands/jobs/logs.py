"""`leasehold jobs logs`, and how the lines look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import trio
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.runtime.rendering import render
from leasehold.cli.views.text import plain
from leasehold.records.jobs import LogLine

FOLLOW_SECONDS = 0.5
ENDED = ("completed", "failed", "cancelled")
LEVELS = {"debug": "dim", "warning": "yellow", "error": "bold red", "critical": "bold red"}


def view_logs(lines: list[LogLine], _now: datetime) -> Sequence[RenderableType]:
    """`13:00:05.123 #1 info      message`, in UTC; further lines of a message are indented."""
    return [part for line in lines for part in _view_line(line)]


def _view_line(line: LogLine) -> list[Text]:
    at = line.at.astimezone(UTC).strftime("%H:%M:%S.") + f"{line.at.microsecond // 1000:03d}"
    first, *rest = line.message.splitlines() or [""]
    head = Text.assemble(f"{at} #{line.attempt} ", (f"{line.level:<8}", LEVELS.get(line.level, "")), " ", plain(first))
    return [head, *(plain("    " + each) for each in rest)]


@shown_as(view_logs)
async def jobs_logs(
    job_id: Annotated[int, AN_ID],
    /,
    *,
    attempt: Annotated[int | None, Parameter(help="Only the lines of this attempt.")] = None,
    follow: Annotated[
        bool, Parameter(alias="-f", help="Go on with new lines until the job has ended.", negative=())
    ] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[LogLine] | None:
    """Show what the handlers of a job have logged with `job.log`, oldest first.

    With --follow and --output json there is one JSON object per line.

    Example:
      leasehold jobs logs 42
      leasehold jobs logs 42 --follow
    """
    async with context.client() as client:
        if not follow:
            return await client.jobs.logs(job_id, attempt=attempt)
        shown = 0
        while True:
            has_ended = (await client.get(job_id)).state in ENDED
            if has_ended:  # its last lines come a moment after its end
                await trio.sleep(FOLLOW_SECONDS)
            lines = await client.jobs.logs(job_id, attempt=attempt)
            _print(lines[shown:], context)
            shown = max(shown, len(lines))
            if has_ended:
                return None
            await trio.sleep(FOLLOW_SECONDS)


def _print(lines: list[LogLine], context: CommandContext) -> None:
    if lines:
        wants_text = context.common.output == "text" or (
            context.common.output is None and context.terminal.stdout.isatty()
        )
        render(lines, view_logs, "text" if wants_text else "jsonl", context.terminal)
