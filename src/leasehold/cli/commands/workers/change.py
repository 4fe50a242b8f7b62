"""`leasehold workers decommission`, `pause`, `resume`, `scale` and `cancel-job`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from time import monotonic
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import RenderableType

from leasehold.cli.commands.workers.read import Timeout, WorkerName, tell
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.durations import parse_duration
from leasehold.cli.views.text import plain
from leasehold.errors import WaitTimeout
from leasehold.records.workers import CommandRecord

LOOK_SECONDS = 0.2
SLOTS = Parameter(help="How many jobs to run at once.", validator=Number(gte=1, lte=10_000))


class CommandReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker did. `result` is its answer: its new state, its slots, the job's state before."""

    worker_id: str
    command: str
    command_id: int
    state: str
    result: Any


def view_command(report: CommandReport, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [plain(f"worker {report.worker_id} {_outcome(report)}")]


@shown_as(view_command)
async def workers_decommission(
    worker: WorkerName,
    /,
    *,
    wait: Annotated[str | None, Parameter(help="How long to wait for its end: 30s, 10m. No wait by default.")] = None,
    timeout: Timeout = "10s",
    context: Annotated[CommandContext, INJECTED],
) -> CommandReport:
    """Stop a worker once the jobs that it runs have ended.

    It claims no more jobs and hands back those that it has claimed and not begun. The supervisor (systemd, Kubernetes,
    leasehold up) may start it again.

    Example:
      leasehold workers decommission brave-otter
      leasehold workers decommission pod-3 --wait 10m
    """
    patience = None if wait is None else parse_duration(wait).total_seconds()
    answer = await tell(context, worker, "decommission", parse_duration(timeout))
    if patience is not None and not await _has_ended(context, answer, patience):
        raise WaitTimeout(f"worker {answer.worker_id} still drains after {wait}; it goes on")
    return _report(answer, "stopped" if patience is not None else "draining")


@shown_as(view_command)
async def workers_pause(
    worker: WorkerName, /, *, timeout: Timeout = "10s", context: Annotated[CommandContext, INJECTED]
) -> CommandReport:
    """Stop a worker from claiming jobs until it is resumed.

    Running jobs go on. To stop a queue on all workers: leasehold queues pause.

    Example:
      leasehold workers pause brave-otter
    """
    return _report(await tell(context, worker, "pause", parse_duration(timeout)))


@shown_as(view_command)
async def workers_resume(
    worker: WorkerName, /, *, timeout: Timeout = "10s", context: Annotated[CommandContext, INJECTED]
) -> CommandReport:
    """Let a paused worker claim jobs again.

    Example:
      leasehold workers resume brave-otter
    """
    return _report(await tell(context, worker, "resume", parse_duration(timeout)))


@shown_as(view_command)
async def workers_scale(
    worker: WorkerName,
    slots: Annotated[int, SLOTS],
    /,
    *,
    timeout: Timeout = "10s",
    context: Annotated[CommandContext, INJECTED],
) -> CommandReport:
    """Change how many jobs a worker runs at once, until it ends.

    Surplus slots end with the job that they run.

    Example:
      leasehold workers scale brave-otter 8
    """
    return _report(await tell(context, worker, "set_concurrency", parse_duration(timeout), slots=slots))


@shown_as(view_command)
async def workers_cancel_job(
    worker: WorkerName,
    job_id: Annotated[int, Parameter(help="Id of a job that it runs."), AN_ID],
    /,
    *,
    timeout: Timeout = "10s",
    context: Annotated[CommandContext, INJECTED],
) -> CommandReport:
    """Cancel a job, if it is this worker that has it.

    Example:
      leasehold workers cancel-job brave-otter 42
    """
    return _report(await tell(context, worker, "cancel_job", parse_duration(timeout), job_id=job_id))


async def _has_ended(context: CommandContext, answer: CommandRecord, patience: float) -> bool:
    from leasehold.concurrency.one_shot import pause  # noqa: PLC0415

    until = monotonic() + patience
    async with context.client() as client:
        while (await client.workers.get(str(answer.incarnation))).state != "stopped":
            if monotonic() >= until:
                return False
            await pause(LOOK_SECONDS)
    return True


def _report(answer: CommandRecord, state: str | None = None) -> CommandReport:
    result = answer.result if state is None else {**answer.result, "state": state}
    return CommandReport(
        worker_id=answer.worker_id or "?",
        command=answer.command,
        command_id=answer.id,
        state=answer.state,
        result=result,
    )


def _outcome(report: CommandReport) -> str:
    result: dict[str, Any] = report.result
    match report.command:
        case "decommission" if result["state"] == "stopped":
            return "has ended"
        case "decommission" | "pause" | "resume":
            count = len(result["running"])
            rest = f"; {count} job{' goes' if count == 1 else 's go'} on" if count else ""
            return f"is now {result['state']}{rest}"
        case "set_concurrency":
            slots: int = result["slots"]
            return f"runs {slots} job{'' if slots == 1 else 's'} at once now, before {result['was']}"
        case _:
            return f"cancelled job {result['job_id']}, which was {result['was']}"
