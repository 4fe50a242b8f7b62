"""Workers and the commands for them, as the reading functions answer with them, and the egress identities of their jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

IdentityState = Literal["ready", "leased", "cooling", "retired"]


class WorkerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process.

    Attributes:
        name: friendly; given, or made from `worker_id`.
        host: machine, container or pod.
        version, app_version: of leasehold; of the code that has the handlers, None where nobody said.
        queues, kinds: what it serves; empty for all.
        active_job_ids: jobs that it holds, running ones first, no more than it has slots; `active_jobs`: how many those are.
        state: ready, paused, draining, stale (it has missed two heartbeats, or a job was taken back from it) or stopped.
        memory, cpu: shares in use of `memory_limit` (bytes) and `cpu_limit` (CPUs) at the last heartbeat; None: not known.
        backoff: why it claims nothing for now, until about `backoff_until`; None: it does.
        missing_kinds: kinds that are pending in its queues and that it has no handler for.
        outdated: the last one that started among those that share its work has another version.
        silent_for: how many seconds ago its last heartbeat was, by the database's clock.
        lost_wake_ups: jobs that it found by polling, though it listened and nobody had rung for them.
        stray_handlers: how many still run in its slots although their jobs are gone.
        rss: bytes of memory that the process itself holds; cpu_user, cpu_system: seconds of CPU that it has used. None: not told.
    """

    worker_id: str
    name: str
    host: str
    pid: int
    version: str
    app_version: str | None
    queues: list[str]
    kinds: list[str]
    slots: int
    active_jobs: int
    active_job_ids: list[int]
    state: str
    memory: float | None
    memory_limit: int | None
    cpu: float | None
    cpu_limit: float | None
    backoff: str | None
    backoff_until: datetime | None
    missing_kinds: list[str]
    outdated: bool
    started_at: datetime
    heartbeat_at: datetime
    stopped_at: datetime | None
    incarnation: UUID
    silent_for: float
    lost_wake_ups: int
    rss: int | None = None
    cpu_user: float | None = None
    cpu_system: float | None = None
    stray_handlers: int = 0


class CommandRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A command to a worker.

    Attributes:
        command, args: what to do; see `leasehold.command_worker`.
        state: pending, received, done, failed, or expired: it was not received by `expires_at`, or the worker is gone.
        result: what the worker answered. error: why it did not do it.
    """

    id: int
    worker_id: str | None
    incarnation: UUID
    command: str
    args: dict[str, Any]
    state: str
    created_at: datetime
    expires_at: datetime
    received_at: datetime | None
    done_at: datetime | None
    result: Any
    error: str | None


class LeaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A lease that a worker holds. Spans are seconds by the database's clock.

    Attributes:
        held_for: since the job was claimed. runs_for: since its handler began; None: not yet.
        age: since the lease was given or renewed last. left: until it runs out; less than 0: it has.
    """

    job_id: int
    kind: str
    queue: str
    key: str | None
    state: str
    attempt: int
    worker_id: str
    incarnation: UUID
    lease_expires_at: datetime
    held_for: float
    runs_for: float | None
    age: float
    left: float


class IdentityRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An egress identity, without the password of its proxy.

    Attributes:
        proxy: http://host:port; None for none.
        retire_after: refusals in a row after which it retires. cool_seconds: how long it rests after the first one.
        refusals: in a row so far; refusals_total: ever.
        cools_for: seconds that it still cools. leased_job: the job that has it.
    """

    identity_id: int
    name: str
    state: IdentityState
    proxy: str | None
    proxy_user: str | None
    user_agent: str
    accept_language: str
    locale: str
    time_zone: str
    retire_after: int
    cool_seconds: float
    refusals: int
    refusals_total: int
    uses: int
    last_outcome: str | None
    used_at: datetime | None
    cools_for: float | None
    leased_job: int | None
    retired_at: datetime | None
    retire_reason: str | None


class TestedIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answered under an egress identity.

    Attributes:
        status: of the first answer; None: there was none, and `problem` says why.
        seconds: until it came.
        state: of the identity since then: ready, cooling or retired.
    """

    name: str
    url: str
    status: int | None
    seconds: float
    problem: str | None
    state: str


class IdentityCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many identities are in a state."""

    state: IdentityState
    identities: int
