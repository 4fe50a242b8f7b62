"""`leasehold run worker --workers N`: so many worker processes, kept running by one that does nothing else."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from leasehold.actors.shared.identity import made_up_id
from leasehold.cli.up.lines import OURSELVES, line_writer
from leasehold.cli.up.up import child_environment
from leasehold.errors import BadInput
from leasehold.observability.logs import wants_text
from leasehold.settings.sources import environment_name

if TYPE_CHECKING:
    from leasehold.cli.runtime.context import CommandContext
    from leasehold.cli.up.processes import Child, Level
    from leasehold.settings import Settings

LARGEST_PORT = 65_535


async def run_workers(
    context: CommandContext, settings: Settings, flags: Mapping[str, object], *, fail_fast: bool
) -> int:
    """Run `settings.workers` workers until a signal. Returns the exit code, as `Supervisor.run`.

    Args:
        context: of the command.
        settings: with the database.
        flags: of the command, for the processes.
        fail_fast: passed on to them.
    """
    from leasehold.cli.up.health_watch import HealthWatch  # noqa: PLC0415
    from leasehold.cli.up.processes import Supervisor  # noqa: PLC0415

    as_text = wants_text(settings.log_format, context.terminal.stdout)
    environ = child_environment(context, settings, flags, as_text=as_text)
    children = plan_workers(settings, environ, fail_fast=fail_fast)
    write = line_writer(context.terminal, ["run", *(child.name for child in children)], as_text=as_text)

    def show(name: str, line: str, level: Level = "info", /) -> None:
        write("run" if name == OURSELVES else name, line, level)

    supervisor = Supervisor(children, show)
    ports = {child.name: port for child, port in zip(children, probe_ports(settings), strict=True) if port}
    return await supervisor.run(HealthWatch(ports, supervisor, show).run if ports else None)


def plan_workers(settings: Settings, environ: Mapping[str, str], *, fail_fast: bool = False) -> list[Child]:
    """The processes: worker 2 of `pod-0` is `pod-0-2`, and its probes have the second port. Raises BadInput."""
    from leasehold.cli.up.processes import Child  # noqa: PLC0415

    stem = settings.worker_id or made_up_id()
    command = [sys.executable, "-m", "leasehold", "run", "worker", "--with-parent"]
    children: list[Child] = []
    for number, port in enumerate(probe_ports(settings), start=1):
        own = {"worker_id": f"{stem}-{number}", "probe_port": port}
        own["worker_name"] = None if settings.worker_name is None else f"{settings.worker_name}-{number}"
        given = {environment_name(name): str(value) for name, value in own.items() if value is not None}
        more = ["--fail-fast"] if fail_fast else []
        children.append(Child(name=f"worker.{number}", command=[*command, *more], environ={**environ, **given}))
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
