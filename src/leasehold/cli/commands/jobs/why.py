"""`leasehold jobs why`, and how its answer looks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain, show_instant, state_text, table
from leasehold.records.jobs import Explanation

# Somebody has to do something; time will do it; nothing is wrong.
STYLES = {
    **dict.fromkeys(("paused", "unserved", "failed", "stale"), "bold red"),
    **dict.fromkeys(("blocked", "scheduled", "key_held", "key_line", "limited", "behind", "busy", "suspect"), "yellow"),
    **dict.fromkeys(("completed", "running", "claimed", "idle_worker", "expected_start"), "green"),
}


class WhyReport(msgspec.Struct, frozen=True, kw_only=True):
    """Why a job is not running: all reasons, the most important first."""

    job_id: int
    state: str
    reasons: list[Explanation]


def view_why(report: WhyReport, _now: datetime) -> Sequence[RenderableType]:
    """The answer in one sentence; below it every reason, where there are several."""
    if not report.reasons:
        return [Text.assemble(f"job {report.job_id} is ", state_text(report.state))]
    first = report.reasons[0].explanation
    answer = Text.assemble(f"job {report.job_id} is ", state_text(report.state), ": ", plain(first, "bold"))
    if len(report.reasons) == 1:
        return [answer]
    rows = [
        [
            Text(each.reason, STYLES.get(each.reason, "")),
            show_instant(each.until) if each.until else "",
            plain(each.explanation),
        ]
        for each in report.reasons
    ]
    return [answer, Text(), table(["reason", "until", "explanation"], rows, cut="explanation")]


@shown_as(view_why)
async def jobs_why(job_id: Annotated[int, AN_ID], /, *, context: Annotated[CommandContext, INJECTED]) -> WhyReport:
    """Say why a job is not running, and when it is expected to.

    The first line is the answer, the table below has every reason. Asking costs the same for a long queue as for a short
    one.

    Example:
      leasehold jobs why 42
      leasehold jobs why 42 --output json
    """
    async with context.client() as client:
        return WhyReport(
            job_id=job_id, state=(await client.get(job_id)).state, reasons=await client.jobs.explain(job_id)
        )
