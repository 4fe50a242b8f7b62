"""What the reading functions answer with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from leasehold.database import Row
from leasehold.unique import Outcome

JSON_COLUMNS = frozenset(
    {"args", "result", "output", "error", "metadata", "detail", "facts", "counts", "blackouts", "declared"}
)


class EnqueuedJob(msgspec.Struct, frozen=True):
    """What an enqueue made, or found: `is_new` is False where the idempotency key was used before, or another job has the
    unique key. `outcome` tells what became of that one: nothing (`existing`), `replaced`, `extended`, `overwritten`."""

    job_id: int
    is_new: bool
    outcome: Outcome = "created"


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job, finished or not. Times are the database's; what has not happened is None.

    `chain_id` is the id of the first job of its chain, `succeeded_by` the job that continued it. `attempt` never goes down; of
    the attempts all but `spared_attempts` count towards `max_attempts`.
    """

    id: int
    state: str
    kind: str
    queue: str
    key: str | None
    priority: int
    args: Any
    output: Any
    error: Any
    metadata: Any
    attempt: int
    spared_attempts: int
    max_attempts: int
    created_at: datetime
    run_at: datetime
    claimed_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    heartbeat_at: datetime | None
    lease_expires_at: datetime | None
    worker_id: str | None
    chain_id: int
    chain_position: int
    succeeded_by: int | None


class JobPage(msgspec.Struct, frozen=True):
    """Some jobs, newest id first. `next_before_id` asks for those that follow; None: there are no more."""

    jobs: list[JobRecord]
    next_before_id: int | None


class ChainRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How a chain stands.

    Attributes:
        chain_id: id of its first job.
        state: `open`, or that of its last job: `completed`, `failed`, `cancelled`.
        kind, queue, created_at: of its first job; None once retention has forgotten that.
        job_id, job_kind, job_state: of its last job.
        jobs: how many it has had so far.
        output: of a completed chain.
        error: of a failed or cancelled chain; of an open one that of the last failed attempt.
        finished_at: when it ended.
        open_blockers: how many chains its last job waits for.
    """

    chain_id: int
    state: str
    kind: str | None
    queue: str | None
    job_id: int
    job_kind: str
    job_state: str
    jobs: int
    output: Any
    error: Any
    created_at: datetime | None
    finished_at: datetime | None
    open_blockers: int


class BlockerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A chain that a job waits or waited for.

    Attributes:
        slot: its place, from 1.
        chain_id: of the chain.
        state: `completed`, or how the chain that is still waited for stands: `open`, `failed`, `cancelled`, `deleted`.
        closed_at: when it completed, or None.
        output: what it completed with.
    """

    slot: int
    chain_id: int
    state: str
    closed_at: datetime | None
    output: Any


class QueueCounts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many jobs a queue has in a state. Big tables are not counted for each who asks: `counted_at` tells when they were,
    None if just now."""

    queue: str
    state: str
    jobs: int
    counted_at: datetime | None = None


class QueueRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that somebody knows of.

    Attributes:
        paused_at, pause_reason: since when nothing is claimed from it, and why; None where it is not paused.
        counts: how many jobs it has in each state, as far as there are any.
        workers: how many live ones serve it.
        limits: how many limits are set on it and its key groups.
        ageing_seconds: how long a pending job waits for one more priority; None: it keeps the one it has.
        unserved_kinds: have ready jobs here that no live worker serves; none while it is paused.
    """

    queue: str
    paused_at: datetime | None
    pause_reason: str | None
    counts: dict[str, int]
    workers: int
    limits: int
    ageing_seconds: float | None
    unserved_kinds: list[str]


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to a job. `actor` is the name of the token of whoever caused it through the gateway."""

    at: datetime
    event: str
    attempt: int
    worker_id: str | None
    message: str | None
    detail: Any
    actor: str | None = None


class AttemptError(msgspec.Struct, frozen=True, kw_only=True):
    """With what one attempt failed."""

    attempt: int
    at: datetime
    worker_id: str | None
    type: str
    message: str
    traceback: str | None


class KeyedJob(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a key got, as `EnqueuedJob`. All but the key are None in a dry run."""

    key: str
    job_id: int | None
    is_new: bool | None
    outcome: Outcome | None


class ChangedJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a bulk call did with a job, or would do: changed, or skipped with the reason.

    `was` and `now` are its state before and after; kind, queue and states are None where there is no such job.
    """

    job_id: int
    kind: str | None
    queue: str | None
    changed: bool
    was: str | None
    now: str | None
    reason: str | None


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """One reason why a job is not running, as `leasehold.explain_job` lists them.

    Attributes:
        reason: its name, for programs; docs/diagnosis.md has them all.
        explanation: a sentence for people.
        until: when it is expected to end, None where nobody knows.
        facts: what the sentence says, for programs.
    """

    reason: str
    explanation: str
    until: datetime | None
    facts: dict[str, Any]


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found: `finding` is its name, `subject` a job or table, `job_id` None where it is about none."""

    finding: str
    job_id: int | None
    subject: str
    explanation: str
    is_repaired: bool


class LimitRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A limit and how far it is used. `key_group` is empty for the queue as a whole, `*` for each group of it.

    Attributes:
        max_running: how many jobs may be held at once, None for any number.
        rate: starts a second on the long run, None for any number; `burst` at once.
        running: jobs held under it; of `*` those of the group that holds most.
        tokens: how many may start now; of `*` in the group that has fewest. None without a rate.
        next_token_in: seconds until one more may start, 0 when one may now. None without a rate.
    """

    queue: str
    key_group: str
    max_running: int | None
    rate: float | None
    burst: int | None
    running: int
    tokens: float | None
    next_token_in: float | None


class JobProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job has come, as the handler of `attempt` said. `fraction` is 0 to 1, or None."""

    attempt: int
    fraction: float | None
    message: str | None
    at: datetime


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a job's log. `at` is by the clock of the worker; `level` is debug, info, warning, error or critical."""

    at: datetime
    attempt: int
    level: str
    message: str


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


def decode_json(text: str) -> Any:
    """What a jsonb column holds. Postgres keeps numbers of any size, Python reads those with some thousand digits as text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


S = TypeVar("S", bound=msgspec.Struct)


def from_row(record: type[S], row: Row) -> S:
    """A record from a row that has a column for each of its fields."""
    return record(**decoded(row, record.__struct_fields__))


def decoded(row: Row, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The columns of a row, all or these, with what is JSON in them decoded."""
    values: dict[str, Any] = {}
    for name in row.keys() if names is None else names:
        value = row[name]
        values[name] = decode_json(value) if name in JSON_COLUMNS and value is not None else value
    return values
