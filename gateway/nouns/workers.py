"""`/api/workers…` and their leases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Cursor, Id, Limit, Name, Page, WorkerName, cursor_at, place_of
from leasehold.gateway.http.problems import (
    UNKNOWN_COMMAND,
    UNKNOWN_WORKER,
    WRONG_STATE,
    Refusal,
)
from leasehold.gateway.http.replies import Reply
from leasehold.gateway.routing.routes import Call, Routes, Success
from leasehold.gateway.routing.services import GatewayServices, preferred_wait, unless_stopping
from leasehold.records.workers import CommandRecord, LeaseRecord, WorkerRecord
from leasehold.validation import LARGEST_BIGINT

CommandName = Literal["decommission", "pause", "resume", "set_concurrency", "cancel_job", "dump_stacks"]
Names = Annotated[list[Name], Meta(max_length=10_000)]
Slots = Annotated[int, Meta(ge=0, le=10_000)]
Share = Annotated[float, Meta(ge=0, le=1000)]
CpuSeconds = Annotated[float, Meta(ge=0, le=1e12)]
Text = Annotated[str, Meta(max_length=1000)]
Integer = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class WorkersParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which workers."""

    stopped: Annotated[bool, Meta(description="Also those that have ended.")] = False


class LeasesParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Leases of which worker, and how many."""

    worker: WorkerName | None = None
    limit: Limit = 1000


class WorkerParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which worker."""

    id: WorkerName


class WorkerIdParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which worker."""

    id: Annotated[Name, Meta(description="The id that the worker goes by.")]


class CommandsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Commands to which worker."""

    id: WorkerName
    cursor: Cursor | None = None
    limit: Limit = 50


class CommandParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which command."""

    id: WorkerName
    command_id: Id


class CommandArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Of commands that take any: slots of set_concurrency, job_id of cancel_job and dump_stacks."""

    slots: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    job_id: Id | None = None


class CommandBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a worker is to do."""

    command: CommandName
    args: CommandArgs = CommandArgs()
    valid_for: Annotated[
        float, Meta(gt=0, le=86_400, description="Seconds; a worker that has not heard of it by then never will.")
    ] = 300.0


class AcknowledgementBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of a command."""

    id: Id
    result: Annotated[Any, Meta(description="Any JSON.")] = None
    error: Annotated[Text, Meta(description="Why it was not done; null: it was.")] | None = None


class HeartbeatBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a worker reports. The first heartbeat of an incarnation registers the worker with all fields; later ones report
    its state."""

    incarnation: Annotated[UUID, Meta(description="Made by the worker at its start, and the same in its claims.")]
    state: Annotated[
        Literal["ready", "paused", "draining", "stopped"], Meta(description="stopped: it ends with this heartbeat.")
    ] = "ready"
    active_jobs: Integer = 0
    queues: Annotated[Names, Meta(description="Those it serves; empty for all.")] = []
    kinds: Annotated[Names, Meta(description="Those it has handlers for; empty for all.")] = []
    slots: Slots = 1
    host: Name = "unknown"
    pid: Integer = 0
    version: Annotated[Name, Meta(description="Of the program that talks to leasehold.")] = "unknown"
    app_version: Annotated[Name, Meta(description="Of the code that has the handlers.")] | None = None
    name: Annotated[Name, Meta(description="Friendly name; made from the id where it is left out.")] | None = None
    memory_limit: Annotated[int, Meta(ge=1, le=LARGEST_BIGINT, description="Bytes.")] | None = None
    cpu_limit: Annotated[float, Meta(gt=0, le=1e6, description="CPUs.")] | None = None
    memory: Annotated[Share, Meta(description="Share of the limit in use.")] | None = None
    cpu: Annotated[Share, Meta(description="Share of the limit in use.")] | None = None
    rss: Annotated[int, Meta(ge=0, le=LARGEST_BIGINT, description="Bytes of memory that the process holds.")] | None = (
        None
    )
    cpu_user: Annotated[CpuSeconds, Meta(description="Seconds of CPU that the process has used.")] | None = None
    cpu_system: Annotated[CpuSeconds, Meta(description="Those that the kernel has used for it.")] | None = None
    backoff: Annotated[Text, Meta(description="Why it claims nothing for now; null: it does.")] | None = None
    backoff_for: Annotated[float, Meta(ge=0, le=86_400, description="Seconds until it looks again.")] | None = None
    acknowledged: Annotated[
        list[AcknowledgementBody], Meta(max_length=1000, description="Commands that it has carried out, or could not.")
    ] = []


class GivenCommand(msgspec.Struct, frozen=True):
    """A command for the worker that asks. It comes with each heartbeat until it is acknowledged."""

    id: int
    command: str
    args: dict[str, Any]


class HeartbeatAnswer(msgspec.Struct, frozen=True):
    """`registered`: this heartbeat made the worker known, as `name`."""

    registered: bool
    name: str | None
    commands: Sequence[GivenCommand]


PREFER = "Prefer"


# Invalid: the beginning of a name may be that of several workers.
ONE = (UNKNOWN_WORKER,)
routes = Routes("workers")


@routes("GET", "/api/workers", "List the workers", scope=Scope.READ)
async def list_workers(call: Call[WorkersParameters, None]) -> Page[WorkerRecord]:
    """All workers, those alive first, as one page."""
    return Page(await call.services.client.workers.list(stopped=call.parameters.stopped))


@routes("GET", "/api/workers/{id}", "Show one worker", errors=ONE, scope=Scope.READ)
async def show_worker(call: Call[WorkerParameters, None]) -> WorkerRecord:
    """One worker, alive or not."""
    return await call.services.client.workers.get(call.parameters.id)


@routes("GET", "/api/leases", "List the leases that workers hold", errors=ONE, scope=Scope.READ)
async def list_leases(call: Call[LeasesParameters, None]) -> Page[LeaseRecord]:
    """The leases that workers hold, those first that run out next, as one page."""
    asked = call.parameters
    return Page(await call.services.client.workers.leases(asked.worker, most=asked.limit))


@routes(
    "POST",
    "/api/workers/{id}/heartbeat",
    "Say that a worker lives, and hear what it is told to do",
    example={"incarnation": "5f0c6a3e-8a1e-4d7b-9a53-0f0c5f3d9b10", "queues": ["mail"], "kinds": ["send"], "slots": 3},
    scope=Scope.OPERATE,
)
async def heartbeat(call: Call[WorkerIdParameters, HeartbeatBody]) -> HeartbeatAnswer:
    """For workers in other languages: the first heartbeat registers the worker, and each answer has the commands for it.

    Send one every 30 seconds; a worker that is silent for three minutes is shown as stale and gets no commands. A heartbeat
    with the state `stopped` signs the worker off.
    """
    client, body = call.services.client, call.body
    for each in body.acknowledged:
        await client.commands.acknowledge(body.incarnation, each.id, result=each.result, error=each.error)
    if body.state == "stopped":
        await client.workers.stop(body.incarnation)
        return HeartbeatAnswer(False, None, [])
    commands = await _beat(call.services, body)
    if commands is not None:
        return HeartbeatAnswer(False, None, commands)
    name = await client.workers.register(
        body.incarnation,
        call.parameters.id,
        host=body.host,
        pid=body.pid,
        version=body.version,
        queues=body.queues,
        kinds=body.kinds,
        slots=body.slots,
        name=body.name,
        app_version=body.app_version,
        memory_limit=body.memory_limit,
        cpu_limit=body.cpu_limit,
    )
    return HeartbeatAnswer(True, name, await _beat(call.services, body) or [])


@routes(
    "GET", "/api/workers/{id}/commands", "List the commands to a worker, newest first", errors=ONE, scope=Scope.READ
)
async def list_commands(call: Call[CommandsParameters, None]) -> Page[CommandRecord]:
    """What a worker was told to do, newest first."""
    asked = call.parameters
    found = await call.services.client.commands.list(asked.id, before_id=place_of(asked.cursor), page_size=asked.limit)
    return Page(found, cursor_at(found[-1].id) if len(found) == asked.limit else None)


@routes(
    "GET",
    "/api/workers/{id}/commands/{command_id}",
    "Show how a command stands",
    errors=(UNKNOWN_WORKER, UNKNOWN_COMMAND),
    scope=Scope.READ,
)
async def show_command(call: Call[CommandParameters, None]) -> CommandRecord:
    """A command, its state and the worker's answer."""
    worker = await call.services.client.workers.get(call.parameters.id)
    command = await call.services.client.commands.get(call.parameters.command_id)
    if command.incarnation != worker.incarnation:
        raise Refusal(UNKNOWN_COMMAND)
    return command


@routes(
    "POST",
    "/api/workers/{id}/commands",
    "Tell a worker what to do",
    response=CommandRecord,
    status=202,
    headers=(PREFER,),
    successes=(Success(200, "Asked to wait: it is done, or has failed.", CommandRecord),),
    example={"command": "set_concurrency", "args": {"slots": 5}},
    errors=(*ONE, WRONG_STATE),
    scope=Scope.OPERATE,
)
async def command_worker(call: Call[WorkerParameters, CommandBody]) -> Reply:
    """Tells a worker what to do. With `Prefer: wait=5` the answer comes when the worker has acknowledged the command, or
    after five seconds; 202 means not yet."""
    client, body = call.services.client, call.body
    args = msgspec.to_builtins(body.args)
    command_id = await client.workers.command(
        call.parameters.id, body.command, args, valid_for=timedelta(seconds=body.valid_for)
    )
    seconds = preferred_wait(call.headers.get(PREFER))
    command = await _answer_within(call.services, command_id, seconds or 0)
    headers = {"Location": f"/api/workers/{command.incarnation}/commands/{command_id}"}
    applied = {} if seconds is None else {"Preference-Applied": f"wait={seconds}"}
    return Reply(command, 200 if command.done_at is not None else 202, {**headers, **applied})


async def _beat(services: GatewayServices, body: HeartbeatBody) -> list[GivenCommand] | None:
    given = await services.client.workers.heartbeat(
        body.incarnation,
        active_jobs=body.active_jobs,
        state=body.state,
        slots=body.slots,
        memory=body.memory,
        cpu=body.cpu,
        backoff=body.backoff,
        backoff_for=body.backoff_for,
        rss=body.rss,
        cpu_user=body.cpu_user,
        cpu_system=body.cpu_system,
    )
    return None if given is None else msgspec.convert(given, list[GivenCommand])


async def _answer_within(services: GatewayServices, command_id: int, seconds: float) -> CommandRecord:
    """The command when it is acknowledged, after `seconds`, or when the gateway stops."""
    commands = services.client.commands
    wait = commands.wait(command_id, timeout=seconds)
    return await unless_stopping(services, wait, lambda: commands.get(command_id))
