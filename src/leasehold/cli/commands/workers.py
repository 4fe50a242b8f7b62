"""`leasehold workers …`, and how workers look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED, WHOLE
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import ago, fields_table, json_text, parse_duration, plain, state_text, table
from leasehold.errors import WaitTimeout, WrongState
from leasehold.observability.wording import show_bytes, show_instant, show_span
from leasehold.records.workers import CommandRecord, WorkerRecord

MOST_NAMED = 3


class WorkerReport(msgspec.Struct, frozen=True, kw_only=True):
    """One worker, and the last commands to it."""

    worker: WorkerRecord
    commands: list[CommandRecord]


def view_workers(workers: list[WorkerRecord], _now: datetime) -> Sequence[RenderableType]:
    """One line per worker, with what is odd about it at its end."""
    heads = ["worker", "name", "state", "jobs", "queues", "memory", "cpu", "heartbeat", "note"]
    rows = [
        [
            plain(each.worker_id),
            plain(each.name),
            state_text(each.state),
            f"{each.active_jobs}/{each.slots}",
            plain(", ".join(each.queues) or "all"),
            _share(each.memory),
            _share(each.cpu),
            f"{show_span(each.silent_for)} ago" if each.stopped_at is None else "-",
            plain("; ".join(notes(each)), "yellow"),
        ]
        for each in workers
    ]
    return [table(heads, rows, right=("jobs", "memory", "cpu"))]


def view_worker(report: WorkerReport, now: datetime) -> Sequence[RenderableType]:
    """Field by field, then the commands."""
    worker = report.worker
    fields = {
        "worker": plain(worker.worker_id),
        "name": plain(worker.name),
        "state": state_text(worker.state),
        "note": plain("; ".join(notes(worker)), "yellow") if notes(worker) else None,
        "process": plain(f"{worker.pid} on {worker.host}"),
        "incarnation": str(worker.incarnation),
        "leasehold": worker.version,
        "app version": worker.app_version,
        "queues": plain(", ".join(worker.queues) or "all"),
        "kinds": plain(", ".join(worker.kinds) or "all"),
        "jobs": plain(f"{worker.active_jobs} in {worker.slots} slots{_ids(worker)}"),
        "memory": _resource(worker.memory, show_bytes(worker.memory_limit or 0)),
        "cpu": _resource(worker.cpu, f"{worker.cpu_limit or 0:g} CPUs"),
        "started": show_instant(worker.started_at),
        "heartbeat": f"{show_span(worker.silent_for)} ago",
        "stopped": worker.stopped_at and show_instant(worker.stopped_at),
    }
    commands = [Text(), _commands(report.commands, now)] if report.commands else []
    return [fields_table(fields), *commands]


def notes(worker: WorkerRecord) -> list[str]:
    """What is odd about a worker, in words."""
    found: list[str] = []
    if worker.backoff is not None:
        found.append(f"backing off: {worker.backoff}")
    if worker.stray_handlers:
        found.append(f"{worker.stray_handlers} slots held by handlers whose jobs are gone")
    if worker.outdated:
        found.append("outdated")
    if worker.lost_wake_ups:
        found.append(f"{worker.lost_wake_ups:,} lost wake-ups")
    if worker.missing_kinds:
        named = ", ".join(worker.missing_kinds[:MOST_NAMED]) + (", …" if len(worker.missing_kinds) > MOST_NAMED else "")
        found.append(f"no handler for {named}")
    return found


def _commands(commands: list[CommandRecord], now: datetime) -> RenderableType:
    rows = [
        [
            str(each.id),
            plain(" ".join([each.command, *(f"{name}={value}" for name, value in each.args.items())])),
            state_text(each.state),
            ago(each.created_at, now),
            plain(each.error or _short(each.result)),
        ]
        for each in commands
    ]
    return table(["command", "what", "state", "told", "answer"], rows)


def _short(result: object) -> str:
    text = " ".join(json_text(result).split()) if result is not None else ""
    return text if len(text) <= 60 else f"{text[:59]}…"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _resource(share: float | None, limit: str) -> str | None:
    return None if share is None else f"{share:.0%} of {limit}"


def _ids(worker: WorkerRecord) -> str:
    shown = ", ".join(map(str, worker.active_job_ids[:20]))
    return f": {shown}{', …' if len(worker.active_job_ids) > 20 else ''}" if shown else ""


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
    answer = await send_command(context, worker, "dump_stacks", parse_duration(timeout), **args)
    stacks = msgspec.convert(answer.result["stacks"], list[JobStack])
    return StacksReport(worker_id=answer.worker_id or worker, stacks=stacks)


async def send_command(
    context: CommandContext, worker: str, command: str, timeout: timedelta, **args: int
) -> CommandRecord:
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

    It claims no more jobs and hands back those that it has claimed and not begun. Below leasehold up, --workers, honcho and
    foreman its process stays, idle; systemd and Kubernetes may start one that ends again.

    Example:
      leasehold workers decommission brave-otter
      leasehold workers decommission pod-3 --wait 10m
    """
    patience = None if wait is None else parse_duration(wait).total_seconds()
    answer = await send_command(context, worker, "decommission", parse_duration(timeout))
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
    return _report(await send_command(context, worker, "pause", parse_duration(timeout)))


@shown_as(view_command)
async def workers_resume(
    worker: WorkerName, /, *, timeout: Timeout = "10s", context: Annotated[CommandContext, INJECTED]
) -> CommandReport:
    """Let a paused worker claim jobs again.

    Example:
      leasehold workers resume brave-otter
    """
    return _report(await send_command(context, worker, "resume", parse_duration(timeout)))


@shown_as(view_command)
async def workers_scale(
    worker: WorkerName,
    slots: Annotated[int, SLOTS, WHOLE],
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
    return _report(await send_command(context, worker, "set_concurrency", parse_duration(timeout), slots=slots))


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
    return _report(await send_command(context, worker, "cancel_job", parse_duration(timeout), job_id=job_id))


async def _has_ended(context: CommandContext, answer: CommandRecord, patience: float) -> bool:
    from leasehold.concurrency.flavours import pause  # noqa: PLC0415

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
