"""`leasehold run`, `gateway`, `mcp`, `reap` and `demo`: each is a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.cli.runtime.interruption import stop_with_parent
from leasehold.cli.runtime.loading import load_app
from leasehold.cli.runtime.options import AN_INTEGER, FAIL_FAST, INJECTED, MIGRATE, WorkerOptions, setting
from leasehold.cli.runtime.outcome import Finally, Outcome, shown_as
from leasehold.cli.views import plain
from leasehold.errors import BadInput, DatabaseUnavailable, LeaseholdError, SchemaOutdated
from leasehold.settings.sources import ends_others

if TYPE_CHECKING:
    from leasehold.demo.summary import DemoReport


Actor = Literal["worker", "scheduler", "reaper"]


async def run(
    actor: Annotated[Actor, Parameter(help="What to run.")],
    /,
    *more: Annotated[Actor, Parameter(help="What else to run.")],
    workers: Annotated[int | None, setting("workers"), AN_INTEGER] = None,
    worker_id: Annotated[str | None, setting("worker_id")] = None,
    probe_port: Annotated[int | None, setting("probe_port"), AN_INTEGER] = None,
    probe_host: Annotated[str | None, setting("probe_host")] = None,
    options: Annotated[WorkerOptions, Parameter(name="*")] = WorkerOptions(),  # noqa: B008
    migrate: Annotated[bool, MIGRATE] = False,
    fail_fast: Annotated[bool, FAIL_FAST] = False,
    with_parent: Annotated[bool, Parameter(show=False)] = False,
    context: Annotated[CommandContext, INJECTED],
) -> int:
    """Run worker, scheduler or reaper in this process.

    SIGTERM drains them; a second signal ends them at once. While the database cannot be reached, or its schema is not there
    yet, they wait for it. Below `up`, --workers, honcho and foreman, the process of a worker that is decommissioned stays, idle,
    so that it is not started again.

    With --workers it keeps so many worker processes running, and starts one again that dies or hangs. The second worker of the
    id pod-0 is pod-0-2, and its probes have the port after the first one's.

    Example:
      leasehold run worker --app shop.jobs:app --queues crawl,parse --slots 8
      leasehold run worker --workers 5 --worker-id pod-0 --probe-port 8081
      leasehold run scheduler reaper --migrate
    """
    own = {"workers": workers, "worker_id": worker_id, "probe_port": probe_port, "probe_host": probe_host}
    flags = {**options.flags(), **own}
    settings = context.settings_with(flags)
    several = settings.workers > 1 and "worker" in (actor, *more)
    if several and more:
        raise BadInput(f"{settings.workers} workers run alone; run the other actors in a process of their own")
    app = load_app(settings.app) if settings.app else None

    async def check() -> None:
        if migrate:
            await context.migrate(create=False)
        await context.check_schema(notice_too=True)

    try:
        await check()
        begin = None
    except (DatabaseUnavailable, SchemaOutdated):
        if fail_fast:
            raise
        begin = check
    if with_parent:
        stop_with_parent()
    if several:
        from leasehold.cli.up.up import run_workers  # noqa: PLC0415

        switches = [name for name, given in (("--migrate", migrate), ("--fail-fast", fail_fast)) if given]
        return await run_workers(context, context.resolved(settings), flags, switches)
    # They would start it again, or end all the others.
    stays = with_parent or ends_others(context.terminal.environ)
    return await context.services.run_actors((actor, *more), context.resolved(settings), app, begin, stays=stays)


async def gateway(
    *,
    host: Annotated[str | None, setting("gateway_host")] = None,
    port: Annotated[int | None, setting("gateway_port"), AN_INTEGER] = None,
    cors_origins: Annotated[str | None, setting("gateway_cors_origins")] = None,
    app: Annotated[
        str | None,
        Parameter(
            help="Refuse kinds and args that do not fit the handlers at module:attribute, and use the options of the kinds."
        ),
    ] = None,
    migrate: Annotated[bool, MIGRATE] = False,
    fail_fast: Annotated[bool, FAIL_FAST] = False,
    with_parent: Annotated[bool, Parameter(show=False)] = False,
    context: Annotated[CommandContext, INJECTED],
) -> Finally:
    """Serve the HTTP API.

    SIGTERM finishes the requests in flight; a second signal ends it at once. While the database cannot be reached, or its
    schema is not there yet, what needs it is answered with 503. With --migrate it begins to serve when the schema is there.

    Example:
      leasehold gateway --port 8420
      leasehold gateway --app shop.jobs:app --migrate
    """
    settings = context.settings_with({"gateway_host": host, "gateway_port": port, "gateway_cors_origins": cors_origins})
    handlers = load_app(app) if app else None
    if with_parent:
        stop_with_parent()
    if migrate:
        from leasehold.actors.supervise import Outage, until_there  # noqa: PLC0415  it loads the driver

        bring = partial(context.migrate, create=False)
        await (bring() if fail_fast else until_there(bring, Outage()))
    resolved = context.resolved(settings)
    interruption = context.interruption

    def run() -> int:
        return context.services.run_gateway(
            resolved, handlers, lambda: interruption.is_interrupted, waits=not fail_fast
        )

    return Finally(run)


TOKEN = "LEASEHOLD_TOKEN"  # the name of a variable


class AgentsMissing(LeaseholdError):
    """`leasehold mcp` needs the extra: pip install 'leasehold[mcp]'."""


async def mcp(
    *,
    url: Annotated[str | None, Parameter(help="Address of the gateway; default: where the settings put it.")] = None,
    changes: Annotated[
        bool,
        Parameter(help="Offer what changes one job, queue or schedule, too; each change takes a code.", negative=()),
    ] = False,
    context: Annotated[CommandContext, INJECTED],
) -> None:
    """Let an agent look at jobs, over the Model Context Protocol.

    It is a server on standard input and output. It asks a gateway, with the token in LEASEHOLD_TOKEN where the gateway wants
    one. What the token may not read, the agent does not see. Without --changes it changes nothing, whatever the token may do.

    Example:
      leasehold mcp
      LEASEHOLD_TOKEN=lh_… leasehold mcp --url https://jobs.example.org --changes
    """
    try:
        from leasehold.mcp.server import serve  # noqa: PLC0415  the extra may be missing, and takes half a second to import
    except ImportError as error:
        raise AgentsMissing from error
    settings = context.settings
    address = url or f"http://{settings.gateway_host}:{settings.gateway_port}"
    await serve(address, context.terminal.environ.get(TOKEN), may_change=changes)


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
        Parameter(help="Also take jobs whose worker has not renewed them for this many minutes, lease or not."),
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


def view_report(report: DemoReport, _now: datetime) -> Sequence[RenderableType]:
    """What the demo measured, and whether it kept its promises."""
    from leasehold.demo.summary import view_demo  # noqa: PLC0415

    return view_demo(report)


@shown_as(view_report)
async def demo(
    *,
    report: Annotated[Path | None, Parameter(help="Keep the report of the census in this file.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> Outcome[Any]:
    """Watch it work: real jobs on several workers, one of which is killed.

    A census of the Python standard library, one job per file. At the end the sums are compared with a plain count; exits
    with 1 if they differ or a job was lost. Without a database, embedded Postgres runs in a temporary folder, which is
    removed; the logs stay, and it says where, if something went wrong.

    Example:
      leasehold demo
      leasehold demo --report census.md
      leasehold demo --output json
    """
    if report is not None and (report.is_dir() or not report.parent.is_dir()):
        raise BadInput(f"--report must be a file in a folder that exists, not {report}")
    console = context.terminal.console(context.terminal.stderr)
    interruption = context.interruption
    with interruption.owing():
        done = await context.services.run_demo(context.settings, console, report, lambda: interruption.is_interrupted)
    return Outcome(done, ExitCode.DONE if done.passed else ExitCode.FAILED)
