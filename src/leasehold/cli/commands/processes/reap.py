"""`leasehold reap`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain

BATCH = 1_000


class ReapReport(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs were taken back, and why others could not be: a sentence for each that names the session."""

    reaped: int
    held: list[str]


def view_reap(report: ReapReport, _now: datetime) -> Sequence[RenderableType]:
    """One sentence, and one for each job that could not be taken back."""
    return [Text(f"took back {report.reaped} job{'' if report.reaped == 1 else 's'}"), *map(plain, report.held)]


@shown_as(view_reap)
async def reap(
    *,
    minutes: Annotated[
        float | None,
        Parameter(help="Also take jobs whose worker has not renewed them for this many seconds, lease or not."),
    ] = None,
    context: Annotated[CommandContext, INJECTED],
) -> ReapReport:
    """Take back jobs whose lease has run out.

    The reaper does it by itself; this does not wait for it. A job whose row a session of Postgres holds cannot be taken back;
    the session is named.

    Example:
      leasehold reap
      leasehold reap --minutes 10
    """
    async with context.database() as database:
        if minutes is not None:
            reaped = await context.services.client(database).jobs.recover_stale(minutes)
        else:
            reaped = 0
            while taken := len(await database.call("reap_jobs", BATCH)):
                reaped += taken
        stuck = await database.call("list_stuck_leases")
        return ReapReport(reaped=reaped, held=list(dict.fromkeys(row["explanation"] for row in stuck)))
