"""Request and response bodies of `/api/workers…`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import LARGEST_BIGINT, Name
from leasehold.gateway.http.pages import Cursor, Limit

WorkerName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="Id, friendly name or incarnation of a worker, or the beginning of one that only it has.",
    ),
]
CommandId = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
CommandName = Literal["decommission", "pause", "resume", "set_concurrency", "cancel_job", "dump_stacks"]
Names = Annotated[list[Name], Meta(max_length=10_000)]
Slots = Annotated[int, Meta(ge=0, le=10_000)]
Share = Annotated[float, Meta(ge=0, le=1000)]
CpuSeconds = Annotated[float, Meta(ge=0, le=1e12)]
Words = Annotated[str, Meta(max_length=1000)]
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
    command_id: CommandId


class CommandArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Of commands that take any: slots of set_concurrency, job_id of cancel_job and dump_stacks."""

    slots: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    job_id: CommandId | None = None


class CommandBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a worker is to do."""

    command: CommandName
    args: CommandArgs = CommandArgs()
    valid_for: Annotated[
        float, Meta(gt=0, le=86_400, description="Seconds; a worker that has not heard of it by then never will.")
    ] = 300.0


class AcknowledgementBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of a command."""

    id: CommandId
    result: Annotated[Any, Meta(description="Any JSON.")] = None
    error: Annotated[Words, Meta(description="Why it was not done; null: it was.")] | None = None


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
    backoff: Annotated[Words, Meta(description="Why it claims nothing for now; null: it does.")] | None = None
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
