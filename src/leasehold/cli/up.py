"""`leasehold up`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import msgspec
import trio
from cyclopts import Parameter

from leasehold.cli.context import Context
from leasehold.cli.options import INJECTED, WorkerOptions, setting
from leasehold.errors import BadInput
from leasehold.logs import redact_dsn, wants_text
from leasehold.settings import Settings
from leasehold.settings_sources import CONFIG_VARIABLE, environment_name

if TYPE_CHECKING:
    from leasehold.cli.processes import Child, Show
    from leasehold.cli.terminal import Terminal

COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)
LONGEST_NAME = 10
MOST_WORKERS = 100


async def up(
    *,
    workers: Annotated[int, Parameter(help="Worker processes to start.")] = 1,
    options: Annotated[WorkerOptions, Parameter(name="*")] = WorkerOptions(),  # noqa: B008
    host: Annotated[str | None, setting("gateway_host")] = None,
    port: Annotated[str | None, setting("gateway_port")] = None,
    context: Annotated[Context, INJECTED],
) -> int:
    """Start everything, and Postgres too if none is configured.

    Gateway, scheduler, reaper and workers are processes of their own, each started again when it dies. The first Ctrl-C
    waits for running jobs, the second has them handed back, the third kills.

    Example:
      leasehold up
      leasehold up --app shop.jobs:app --workers 4 --slots 8
    """
    from leasehold.cli.processes import Supervisor  # noqa: PLC0415

    if not 0 <= workers <= MOST_WORKERS:
        raise BadInput(f"--workers must be from 0 to {MOST_WORKERS}, not {workers}")
    flags = {**options.flags(), "gateway_host": host, "gateway_port": port}
    settings = context.settings_with(flags)
    await context.migrate()
    settings = context.resolved(settings)
    as_text = wants_text(settings.log_format, context.terminal.stdout)
    children = plan_children(workers, child_environment(context, settings, flags, as_text=as_text))
    show = line_writer(context.terminal, as_text=as_text)

    serving = trio.Event()

    def show_and_see(name: str, line: str) -> None:
        show(name, line)
        if name == "gateway" and "gateway serves" in line:
            serving.set()

    async def tell_when_ready() -> None:
        await serving.wait()
        context.say("\n".join(["", *first_hints(settings, context.psql_program), ""]))

    return await Supervisor(children, show_and_see).run(tell_when_ready)


def plan_children(workers: int, environ: Mapping[str, str]) -> list[Child]:
    """The processes to start, all configured by their environment."""
    from leasehold.cli.processes import Child  # noqa: PLC0415

    names = [f"worker.{number + 1}" for number in range(workers)]
    actors = {"gateway": ["gateway"], "scheduler": ["run", "scheduler"], "reaper": ["run", "reaper"]}
    actors |= {name: ["run", "worker"] for name in names}
    base = [sys.executable, "-m", "leasehold"]
    return [
        Child(name=name, command=[*base, *arguments, "--with-parent"], environ=environ)
        for name, arguments in actors.items()
    ]


def child_environment(
    context: Context, settings: Settings, flags: Mapping[str, object], *, as_text: bool
) -> dict[str, str]:
    """Our environment, then what our flags say, the database and the form of the log lines."""
    environ = {"PYTHONUNBUFFERED": "1", **context.terminal.environ}
    given = {**context.common.flags(), **flags}
    environ.update({environment_name(name): str(value) for name, value in given.items() if value is not None})
    if context.common.config:
        environ[CONFIG_VARIABLE] = context.common.config
    if settings.database_url:
        environ[environment_name("database_url")] = settings.database_url
    environ[environment_name("log_format")] = "text" if as_text else "json"
    return environ


def line_writer(terminal: Terminal, *, as_text: bool) -> Show:
    """Writes lines to standard output: after the name of their process, or as JSON where they are not JSON already."""
    has_colour = terminal.has_colour(terminal.stdout)
    colours: dict[str, int] = {}

    def show(name: str, line: str) -> None:
        if as_text:
            colour = colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
            prefix = f"{name:<{LONGEST_NAME}} │ "
            line = f"\x1b[{colour}m{prefix}\x1b[0m{line}" if has_colour else prefix + line
        elif not line.startswith("{"):
            fields = {"at": terminal.now(), "level": "info", "logger": "leasehold.up", "process": name, "message": line}
            line = msgspec.json.encode(fields).decode()
        # Whoever read our lines may be gone (`| tee` after Ctrl-C); the processes still want to be drained.
        with suppress(BrokenPipeError):
            terminal.stdout.write(line + "\n")
            terminal.stdout.flush()

    return show


def first_hints(settings: Settings, psql: str) -> list[str]:
    """Where things are, and what to try first."""
    host = f"[{settings.gateway_host}]" if ":" in settings.gateway_host else settings.gateway_host
    url = f"http://{host}:{settings.gateway_port}"
    authorization = " -H 'authorization: Bearer …'" if settings.gateway_token else ""
    body = """-H 'content-type: application/json' -d '{"kind": "echo", "args": {"text": "hello"}}'"""
    database = f" {shlex.quote(redact_dsn(settings.database_url))}" if settings.database_url else ""
    return [
        f"  API      {url}/api/jobs",
        f"  enqueue  curl{authorization} {url}/api/jobs {body}",
        f"""  or       {shlex.quote(psql)}{database} -c "select leasehold.enqueue_job('echo')\"""",
        "  look     leasehold status",
    ]
