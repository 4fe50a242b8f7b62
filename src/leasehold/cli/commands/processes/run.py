"""`leasehold run`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from cyclopts import Parameter

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.loading import load_app
from leasehold.cli.runtime.options import FAIL_FAST, INJECTED, WorkerOptions, setting
from leasehold.cli.runtime.parent import stop_with_parent
from leasehold.errors import BadInput, DatabaseUnavailable

Actor = Literal["worker", "scheduler", "reaper"]


async def run(
    actor: Annotated[Actor, Parameter(help="What to run.")],
    /,
    *more: Annotated[Actor, Parameter(help="What else to run.")],
    workers: Annotated[int | None, setting("workers")] = None,
    worker_id: Annotated[str | None, setting("worker_id")] = None,
    probe_port: Annotated[int | None, setting("probe_port")] = None,
    probe_host: Annotated[str | None, setting("probe_host")] = None,
    options: Annotated[WorkerOptions, Parameter(name="*")] = WorkerOptions(),  # noqa: B008
    fail_fast: Annotated[bool, FAIL_FAST] = False,
    with_parent: Annotated[bool, Parameter(show=False)] = False,
    context: Annotated[CommandContext, INJECTED],
) -> int:
    """Run worker, scheduler or reaper in this process.

    SIGTERM drains them; a second signal ends them at once. While the database cannot be reached they wait for it.

    With --workers it keeps so many worker processes running, and starts one again that dies or hangs. The second worker of the
    id pod-0 is pod-0-2, and its probes have the port after the first one's.

    Example:
      leasehold run worker --app shop.jobs:app --queues crawl,parse --slots 8
      leasehold run worker --workers 5 --worker-id pod-0 --probe-port 8081
      leasehold run scheduler reaper
    """
    own = {"workers": workers, "worker_id": worker_id, "probe_port": probe_port, "probe_host": probe_host}
    flags = {**options.flags(), **own}
    settings = context.settings_with(flags)
    several = settings.workers > 1 and "worker" in (actor, *more)
    if several and more:
        raise BadInput(f"{settings.workers} workers run alone; run the other actors in a process of their own")
    app = load_app(settings.app) if settings.app else None
    check = partial(context.check_schema, tell=True)
    try:
        await check()
        begin = None
    except DatabaseUnavailable:
        if fail_fast:
            raise
        begin = check
    if with_parent:
        stop_with_parent()
    if several:
        from leasehold.cli.up.several import run_workers  # noqa: PLC0415

        return await run_workers(context, context.resolved(settings), flags, fail_fast=fail_fast)
    return await context.services.run_actors((actor, *more), context.resolved(settings), app, begin)
