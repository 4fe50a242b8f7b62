"""`leasehold workers list`, `workers show` and `workers stacks`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.commands.workers.view import WorkerReport, view_worker, view_workers
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.durations import parse_duration
from leasehold.cli.views.text import plain
from leasehold.errors import WrongState
from leasehold.records.workers import CommandRecord, WorkerRecord

WorkerName = Annotated[str, Parameter(help="Id, friendly name or incarnation, or the beginning of one.")]
Timeout = Annotated[str, Parameter(help="How long to wait for the worker's answer: 30s, 5m.")]


class JobStack(msgspec.Struct, frozen=True, kw_only=True):
    """Where the handler of a job is."""

    job_id: int
    kind: str
    stack: str


class StacksReport(msgspec.Struct, frozen=True, kw_only=True):
    """Where the handlers of a worker are."""

    worker_id: str
    stacks: list[JobStack]


def view_stacks(report: StacksReport, _now: datetime) -> Sequence[RenderableType]:
    """Job after job."""
    if not report.stacks:
        return [plain(f"worker {report.worker_id} runs nothing")]
    parts: list[RenderableType] = []
    for each in report.stacks:
        parts += [Text(), plain(f"job {each.job_id} ({each.kind})", "bold"), *map(plain, each.stack.splitlines())]
    return parts[1:]


@shown_as(view_workers)
async def workers_list(
    *,
    stopped: Annotated[bool, Parameter(help="Also those that have ended.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[WorkerRecord]:
    """List the workers, their state, and what is unusual about them.

    A worker that has missed two heartbeats, or from which a job was taken back, is stale.

    Example:
      leasehold workers list
      leasehold workers list --stopped --output jsonl
    """
    async with context.client() as client:
        return await client.workers.list(stopped=stopped)


@shown_as(view_worker)
async def workers_show(worker: WorkerName, /, *, context: Annotated[CommandContext, INJECTED]) -> WorkerReport:
    """Show one worker, the jobs it holds and the last commands to it.

    Example:
      leasehold workers show brave-otter
      leasehold workers show pod-3 --output json
    """
    async with context.client() as client:
        found = await client.workers.get(worker)
        return WorkerReport(worker=found, commands=await client.commands.list(str(found.incarnation), page_size=10))


@shown_as(view_stacks)
async def workers_stacks(
    worker: WorkerName,
    /,
    *,
    job: Annotated[int | None, Parameter(help="Only this job."), AN_ID] = None,
    timeout: Timeout = "10s",
    context: Annotated[CommandContext, INJECTED],
) -> StacksReport:
    """Show where the handlers of a worker are, as stacks.

    Example:
      leasehold workers stacks brave-otter
      leasehold workers stacks brave-otter --job 42
    """
    args = {} if job is None else {"job_id": job}
    answer = await tell(context, worker, "dump_stacks", parse_duration(timeout), **args)
    stacks = msgspec.convert(answer.result["stacks"], list[JobStack])
    return StacksReport(worker_id=answer.worker_id or worker, stacks=stacks)


async def tell(context: CommandContext, worker: str, command: str, timeout: timedelta, **args: int) -> CommandRecord:
    """Tell a worker what to do and wait for its answer.

    Raises UnknownWorker and BadInput; WrongState where the worker is gone or could not do it; WaitTimeout.
    """
    async with context.client() as client:
        command_id = await client.workers.command(worker, command, args)
        answer = await client.commands.wait(command_id, timeout=timeout.total_seconds())
    if answer.state == "expired":
        raise WrongState(f"worker {answer.worker_id} is gone; it has not answered")
    if answer.state == "failed":
        raise WrongState(answer.error)
    return answer
