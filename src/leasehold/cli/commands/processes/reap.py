"""`leasehold reap`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.shell.context import Context
from leasehold.cli.shell.options import INJECTED
from leasehold.cli.views.results import ReapReport

BATCH = 1_000


async def reap(
    *,
    minutes: Annotated[
        float | None, Parameter(help="Also take jobs whose worker has not renewed them for so long, lease or not.")
    ] = None,
    context: Annotated[Context, INJECTED],
) -> ReapReport:
    """Take back jobs whose lease has run out.

    The reaper does it by itself; this does not wait for it.

    Example:
      leasehold reap
      leasehold reap --minutes 10
    """
    async with context.database() as database:
        if minutes is not None:
            return ReapReport(reaped=await context.services.client(database).jobs.recover_stale(minutes))
        reaped = 0
        while taken := len(await database.call("reap_jobs", BATCH)):
            reaped += taken
        return ReapReport(reaped=reaped)
