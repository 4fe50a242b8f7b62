"""Jobs and chains, as the reading functions answer with them, and what became of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

Outcome = Literal["created", "existing", "replaced", "extended", "overwritten"]
"""What an enqueue did: see `EnqueuedJob`."""


QueuedState = Literal["pending", "scheduled", "waiting", "blocked"]
HeldState = Literal["claimed", "running"]
EndedState = Literal["completed", "failed", "cancelled"]
OpenState = Literal[QueuedState, HeldState]
FreeState = Literal[QueuedState, EndedState]
State = Literal[OpenState, EndedState]
ListedState = Literal[State, "stale"]
"""The states that lists know: `stale` is a running job whose lease has run out."""

QUEUED: tuple[QueuedState, ...] = get_args(QueuedState)
"""The states of a job that has not started; a job moves between them by itself."""
HELD: tuple[HeldState, ...] = get_args(HeldState)
UNFINISHED: tuple[OpenState, ...] = get_args(OpenState)
ENDED: tuple[EndedState, ...] = get_args(EndedState)
ANY_STATE: tuple[State, ...] = get_args(State)


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


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to a job. `actor` is the name of the token that caused it through the gateway."""

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
    is_repaired: bool = False


class JobProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job has come, as the handler of `attempt` said. `fraction` is 0 to 1, or None."""

    attempt: int
    fraction: float | None
    message: str | None
    at: datetime


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a job's log. `at` is by the clock of the worker; `level` is debug, info, warning, error or critical; `number`
    is the line's own among the lines of all jobs (0: the database does not tell it)."""

    at: datetime
    attempt: int
    level: str
    message: str
    number: int = 0


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


class ChainNode(msgspec.Struct, frozen=True, kw_only=True):
    """A chain among those that it has to do with: as `ChainRecord`. `waits_for`: chains of the same graph that its jobs wait or
    waited for."""

    chain_id: int
    kind: str | None
    state: str
    job_id: int
    job_kind: str
    job_state: str
    jobs: int
    created_at: datetime | None
    finished_at: datetime | None
    waits_for: list[int]


class ChainGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A chain, the first of the nodes, with all that waits for it and all that those wait for. `is_partial`: there are more."""

    nodes: list[ChainNode]
    is_partial: bool
