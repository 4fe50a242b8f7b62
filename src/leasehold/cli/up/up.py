"""`leasehold up`."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

import msgspec
import trio
from cyclopts import Parameter

from leasehold.actors.identity import made_up_id
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.loading import load_app
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED, WorkerOptions, setting
from leasehold.cli.up.first_steps import Hints, KeptToken, agree_to_migrate, has_token, keep_token
from leasehold.cli.up.processes import OURSELVES, Child, Level, ShowLine, Supervisor, line_writer
from leasehold.cli.up.reload import Reloader
from leasehold.cli.up.watch import HealthWatch, keep_running
from leasehold.errors import BadInput, LeaseholdError
from leasehold.observability.logs import wants_text
from leasehold.settings import Settings
from leasehold.settings.sources import CONFIG_VARIABLE, environment_name

LARGEST_PORT = 65_535


async def run_workers(
    context: CommandContext, settings: Settings, flags: Mapping[str, object], switches: Sequence[str]
) -> int:
    """Run `settings.workers` workers until a signal. Returns the exit code, as `Supervisor.run`.

    Args:
        context: of the command.
        settings: with the database.
        flags: of the command, for the processes.
        switches: given to each of them.
    """
    as_text = wants_text(settings.log_format, context.terminal.stdout)
    environ = child_environment(context, settings, flags, as_text=as_text)
    children = plan_workers(settings, environ, switches)
    write = line_writer(context.terminal, ["run", *(child.name for child in children)], as_text=as_text)

    def show(name: str, line: str, level: Level = "info", /) -> None:
        write("run" if name == OURSELVES else name, line, level)

    supervisor = Supervisor(children, show)
    ports = {child.name: port for child, port in zip(children, probe_ports(settings), strict=True) if port}
    return await supervisor.run(*([HealthWatch(ports, supervisor, show).run] if ports else []))


def plan_workers(settings: Settings, environ: Mapping[str, str], switches: Sequence[str] = ()) -> list[Child]:
    """The processes: worker 2 of `pod-0` is `pod-0-2`, and its probes have the second port. Raises BadInput."""
    stem = settings.worker_id or made_up_id()
    command = [sys.executable, "-m", "leasehold", "run", "worker", "--with-parent", *switches]
    children: list[Child] = []
    for number, port in enumerate(probe_ports(settings), start=1):
        own = {"worker_id": f"{stem}-{number}", "probe_port": port}
        own["worker_name"] = None if settings.worker_name is None else f"{settings.worker_name}-{number}"
        given = {environment_name(name): str(value) for name, value in own.items() if value is not None}
        children.append(Child(name=f"worker.{number}", command=command, environ={**environ, **given}))
    return children


def probe_ports(settings: Settings) -> list[int | None]:
    """The port of each worker's probes: the one that is set and those after it. Raises BadInput."""
    first = settings.probe_port
    if not first:
        return [first] * settings.workers
    last = first + settings.workers - 1
    if last > LARGEST_PORT:
        raise BadInput(
            f"{settings.workers} workers need the ports {first} to {last} for their probes; choose a lower one"
        )
    return list(range(first, last + 1))


MOST_WORKERS = 100
PROBE_SECONDS = 0.2
SERVES = re.compile(r'gateway serves (https?://[^\s"\\]+)')
READY = re.compile(r"gateway serves |starting worker |running (scheduler|due jobs|reaper)")
LOOPBACK = re.compile(r"localhost\.?|127(\.\d+){3}|::1", re.IGNORECASE)


async def up(
    *,
    workers: Annotated[int, Parameter(help="Worker processes to start."), AN_INTEGER] = 1,
    yes: Annotated[
        bool, Parameter(help="Do not ask before the schema of a database that is not embedded changes.", negative=())
    ] = False,
    options: Annotated[WorkerOptions, Parameter(name="*")] = WorkerOptions(),  # noqa: B008
    reload: Annotated[
        bool,
        Parameter(
            help="Start the workers, the scheduler and the gateway again when a file of the app changes.", negative=()
        ),
    ] = False,
    host: Annotated[str | None, setting("gateway_host")] = None,
    port: Annotated[int | None, setting("gateway_port"), AN_INTEGER] = None,
    context: Annotated[CommandContext, INJECTED],
) -> int:
    """Start everything, and Postgres too if none is configured.

    Gateway, scheduler, reaper and workers are processes of their own, each started again when it dies, as is embedded
    Postgres; one that dies again and again stops all. The first Ctrl-C waits for running jobs, the second has them handed
    back, the third kills.

    The app is imported first, and the gateway has it, too: it refuses kinds and args that do not fit. Before the schema of a
    database that is neither embedded nor empty changes, it asks.

    A gateway that other machines can reach needs a token: with embedded Postgres one is made at the first run and kept
    beside its data.

    Example:
      leasehold up
      leasehold up --app shop.jobs:app --workers 4 --slots 8
      leasehold up --app shop.jobs:app --reload
    """
    if not 0 <= workers <= MOST_WORKERS:
        raise BadInput(f"--workers must be from 0 to {MOST_WORKERS}, not {workers}")
    flags: dict[str, object] = {**options.flags(), "gateway_host": host, "gateway_port": port}
    settings = context.settings_with(flags)
    await check_address(settings)
    if settings.app:
        load_app(settings.app)
    await agree_to_migrate(context, is_agreed=yes)
    is_first_run = await context.migrate()
    settings = context.resolved(settings)
    token = await needed_token(context, settings)
    if token:
        flags["gateway_token"] = token.secret
    as_text = wants_text(settings.log_format, context.terminal.stdout)
    children = plan_children(
        workers, child_environment(context, settings, flags, as_text=as_text, reloads=reload), settings.app
    )
    show = line_writer(context.terminal, [OURSELVES, *(child.name for child in children)], as_text=as_text)
    finder = GatewayFinder(settings, show, [child.name for child in children])

    async def report_when_ready() -> None:
        url = await finder.url()
        hints = await find_hints(context, settings, url, token)
        if is_first_run:
            context.say("\n".join(["", *hints.full(context.terminal.columns), ""]))
        else:
            show(OURSELVES, hints.short())

    supervisor = Supervisor(children, finder.show, reloads=reload)
    beside: list[Callable[[], Awaitable[None]]] = [report_when_ready]
    if reload:
        names = [child.name for child in children if knows_app(child)]
        beside.append(partial(Reloader(settings.app, show).run, names, supervisor.restart))
    if context.server is not None:
        beside.append(partial(keep_running, context.server, show, supervisor.give_up))
    return await supervisor.run(*beside)


async def check_address(settings: Settings) -> None:
    """Raises SettingsError if the gateway could not listen, before anything is started."""
    from leasehold.gateway.serving.listening import binding  # noqa: PLC0415

    with binding(settings):
        for listener in await trio.open_tcp_listeners(settings.gateway_port, host=settings.gateway_host):
            await listener.aclose()


class GatewayFinder:
    """Passes lines on, and learns from them which processes are ready and where the gateway serves.

    `names` are those that have to be ready.
    """

    def __init__(self, settings: Settings, show: ShowLine, names: Collection[str] = ("gateway",)) -> None:
        self._settings = settings
        self._show = show
        self._awaited = set(names)
        self._all_ready = trio.Event()
        self._serving = trio.Event()
        self._url = gateway_url(settings)

    def show(self, name: str, line: str, level: Level = "info", /) -> None:
        """Pass a line on."""
        self._show(name, line, level)
        if name == "gateway" and (found := SERVES.search(line)):
            self._url = found[1]
            self._serving.set()
        if READY.search(line):
            self._awaited.discard(name)
            if not self._awaited:
                self._all_ready.set()

    async def url(self) -> str:
        """The URL of the gateway once it serves and all others are ready.

        If their log level hides the lines that say so, the port is tried, and the others are not waited for.
        """
        if self._settings.log_level in {"debug", "info"}:
            await self._serving.wait()
            await self._all_ready.wait()
        while not self._serving.is_set():
            with suppress(OSError):
                await (await trio.open_tcp_stream(self._settings.gateway_host, self._settings.gateway_port)).aclose()
                self._serving.set()
            await trio.sleep(PROBE_SECONDS)
        return self._url


def plan_children(workers: int, environ: Mapping[str, str], app: str | None = None) -> list[Child]:
    """The processes to start, all configured by their environment; the gateway is told the app, which else it does not load."""
    names = [f"worker.{number + 1}" for number in range(workers)]
    actors = {
        "gateway": ["gateway", *(["--app", app] if app else [])],
        "scheduler": ["run", "scheduler"],
        "reaper": ["run", "reaper"],
    }
    actors |= {name: ["run", "worker"] for name in names}
    base = [sys.executable, "-m", "leasehold"]
    return [
        Child(name=name, command=[*base, *arguments, "--with-parent"], environ=environ)
        for name, arguments in actors.items()
    ]


def knows_app(child: Child) -> bool:
    """Whether it has to start again for the sake of changed code."""
    return child.name != "reaper"


def child_environment(
    context: CommandContext, settings: Settings, flags: Mapping[str, object], *, as_text: bool, reloads: bool = False
) -> dict[str, str]:
    """Our environment, then what our flags say, the database and the form of the log lines."""
    environ = {"PYTHONUNBUFFERED": "1", **context.terminal.environ}
    given = {**context.common.flags(), **flags}
    environ.update({environment_name(name): str(value) for name, value in given.items() if value is not None})
    if context.common.config:
        environ[CONFIG_VARIABLE] = context.common.config
    if settings.database_url:
        environ[environment_name("database_url")] = settings.database_url
        # Of the same database, whatever a file says.
        environ[environment_name("direct_database_url")] = settings.direct_database_url or settings.database_url
    environ[environment_name("log_format")] = "text" if as_text else "json"
    if reloads:  # the code of a file that was changed twice in a second would be that of the first change
        environ["PYTHONDONTWRITEBYTECODE"] = "1"
    environ.pop(environment_name("probe_port"), None)  # one port cannot serve all of them
    environ[environment_name("workers")] = "1"  # each of them is one, whatever a file says
    return environ


async def needed_token(context: CommandContext, settings: Settings) -> KeptToken | None:
    """The token in the data folder of embedded Postgres, if others can reach the gateway and no token is known yet."""
    folder = context.data_folder
    if settings.gateway_token or LOOPBACK.fullmatch(settings.gateway_host) or folder is None:
        return None
    return keep_token(folder) if has_token(folder) or not await knows_tokens(context) else None


async def knows_tokens(context: CommandContext) -> bool:
    """Whether the database has tokens."""
    with suppress(LeaseholdError):
        async with context.client() as client:
            return bool(await client.tokens.list())
    return False


async def find_hints(context: CommandContext, settings: Settings, url: str, token: KeptToken | None) -> Hints:
    """What to tell about a gateway that serves at `url`."""
    hints = Hints(url=url, dsn=settings.database_url or "", psql=context.psql_program)
    if token:
        shown = (token.secret, str(token.path)) if token.is_new else None
        return msgspec.structs.replace(hints, authorization=f"$(cat {token.path})", new_token=shown)
    if settings.gateway_token:
        return msgspec.structs.replace(hints, authorization="$" + environment_name("gateway_token"))
    return msgspec.structs.replace(hints, authorization="$TOKEN") if await knows_tokens(context) else hints


def gateway_url(settings: Settings) -> str:
    """Where the gateway serves by its settings."""
    host = f"[{settings.gateway_host}]" if ":" in settings.gateway_host else settings.gateway_host
    return f"http://{host}:{settings.gateway_port}"
