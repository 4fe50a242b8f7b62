"""What happens to jobs, chains, leases and workers, as values. Subscribe with `app.subscribe(JobCompleted, function)`.

An event is told after the commit that made it true, in the process that did it, and only made where there is a listener. The
names are those of the classes; as JSON an event has its name in the field `event`: `{"event": "job_completed", …}`.

Event
├── WorkerEvent   WorkerStarted, WorkerReady, WorkerStopping, WorkerStopped, WorkerError
├── JobEvent      JobCreated, JobCancelled, JobRequeued, JobReaped, JobBlocked, JobUnblocked
│   └── AttemptEvent  JobClaimed, JobStarted, JobCompleted, JobFailed, JobRetried, JobRescheduled, JobReleased,
│                     LeaseRenewed, JobLeaseLost
└── ChainEvent    ChainCreated, ChainCompleted
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=_snake_case, tag_field="event"):
    """Anything that happens; subscribe to it to hear everything."""


class WorkerEvent(Event, frozen=True, kw_only=True):
    """About a worker of this process.

    Attributes:
        worker_id: its name.
        incarnation: of this run of it.
    """

    worker_id: str
    incarnation: UUID


class WorkerStarted(WorkerEvent, frozen=True, kw_only=True):
    """It has registered. No queues means all; no kinds, too."""

    queues: tuple[str, ...]
    kinds: tuple[str, ...]
    slots: int


class WorkerReady(WorkerEvent, frozen=True):
    """It claims jobs from now on."""


class WorkerStopping(WorkerEvent, frozen=True):
    """It claims nothing more; what runs may finish."""


class WorkerStopped(WorkerEvent, frozen=True):
    """Its last outcome is written, or given up."""


class WorkerError(WorkerEvent, frozen=True, kw_only=True):
    """One of its actors failed.

    Attributes:
        actor: its name. error: what it raised, for people.
        again_in: seconds until it is tried again; None: the process ends.
    """

    actor: str
    error: str
    again_in: float | None


class JobEvent(Event, frozen=True, kw_only=True):
    """About one job."""

    job_id: int


class JobCreated(JobEvent, frozen=True, kw_only=True):
    """It was enqueued and committed. Not told: a repeated enqueue that made nothing, and one over a connection of your own
    (asyncpg, psycopg), whose commit we do not see; `database.transaction()` tells it at its commit."""

    kind: str
    queue: str


class JobCancelled(JobEvent, frozen=True, kw_only=True):
    """`Client.cancel` cancelled it; `was` is its state before. A worker that runs it tells `JobLeaseLost`."""

    was: str
    reason: str | None


class JobRequeued(JobEvent, frozen=True, kw_only=True):
    """`Client.retry` had it run once more; `state` is its state now."""

    state: str


class JobReaped(JobEvent, frozen=True, kw_only=True):
    """Its lease had run out: it was taken from `worker_id` and is in `state` now."""

    attempt: int
    worker_id: str
    queue: str
    state: str


class JobBlocked(JobEvent, frozen=True, kw_only=True):
    """It went to wait for other chains to complete: enqueued so, or because its handler raised `WaitFor`."""

    kind: str
    queue: str


class JobUnblocked(JobEvent, frozen=True, kw_only=True):
    """A job that waited for chains has been claimed: told when it is, by the worker that claims it."""

    kind: str
    queue: str


class AttemptEvent(JobEvent, frozen=True, kw_only=True):
    """About one attempt at a job, told by the worker that holds it."""

    attempt: int
    kind: str
    queue: str
    worker_id: str


class JobClaimed(AttemptEvent, frozen=True):
    """It is under this worker's lease."""


class JobStarted(AttemptEvent, frozen=True, kw_only=True):
    """Its handler is about to be called. `waited`: seconds since it could have run, by this machine's clock."""

    waited: float


class JobCompleted(AttemptEvent, frozen=True, kw_only=True):
    """Its outcome is committed. `ran_for`: seconds in the handler and in the line of outcomes."""

    ran_for: float


class JobFailed(AttemptEvent, frozen=True, kw_only=True):
    """The attempt failed and no other will follow. `error`: type, message, traceback."""

    error: dict[str, Any]
    ran_for: float


class JobRetried(AttemptEvent, frozen=True, kw_only=True):
    """The attempt failed and another follows, not before `run_at`."""

    error: dict[str, Any]
    ran_for: float
    run_at: datetime | None


class JobRescheduled(AttemptEvent, frozen=True, kw_only=True):
    """Its handler asked to run `after` seconds later, or at the time `at`; the other one is None."""

    after: float | None
    at: datetime | None = None
    reason: str


class JobReleased(AttemptEvent, frozen=True):
    """It was handed back: unstarted, or interrupted by a shutdown."""


class LeaseRenewed(AttemptEvent, frozen=True, kw_only=True):
    """The job stays ours for `lease` seconds more."""

    lease: float


class JobLeaseLost(AttemptEvent, frozen=True, kw_only=True, tag="lease_lost"):
    """The job is ours no more; its handler has been cancelled and nothing of this attempt is written.

    Attributes:
        reason: taken_by_another_worker, cancelled, already_completed, not_found, deadline, or error (not renewed in time).
    """

    reason: str


class ChainEvent(Event, frozen=True, kw_only=True):
    """About a chain, whose id is that of its first job."""

    chain_id: int
    kind: str
    queue: str


class ChainCreated(ChainEvent, frozen=True):
    """Its first job was enqueued; every job that continues no other begins a chain."""


class ChainCompleted(ChainEvent, frozen=True, kw_only=True):
    """Its last job, `job_id`, completed; `kind` and `queue` are that job's."""

    job_id: int
