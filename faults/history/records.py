"""The records of a history. Times are seconds since the epoch by the clock of the machine, which the database shares.

`n` orders everything that the database accepted: it is drawn from a sequence while the row is locked, so for one row it is the
true order of its versions. `committed` is when the transaction's commit was written, and orders changes of different rows.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Outcome = Literal["ok", "fail", "unknown"]
HELD = ("claimed", "running")


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What all records share."""


class Begin(Record, frozen=True, tag="begin"):
    """The run: how to repeat it, and the times that its fleet goes by (seconds)."""

    seed: int
    at: float
    command: str
    lease: float
    poll: float


class Call(Record, frozen=True, tag="call"):
    """A client's call. `unknown` may or may not have happened. `tags` are those of the jobs that it was to make."""

    operation: str
    client: str
    started: float
    ended: float
    outcome: Outcome
    tags: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    subject: str | None = None
    error: str | None = None


class Change(Record, frozen=True, tag="change"):
    """A new version of a row in `jobs`; `old_state` is None for a new row, `state` for one that is gone. `by` is the
    session that wrote it: its application name, then @ and its process."""

    n: int
    xid: int
    at: float
    committed: float
    by: str
    job: int
    old_state: str | None
    state: str | None
    old_attempt: int
    attempt: int
    old_owner: str | None
    owner: str | None
    old_lease: float | None
    lease: float | None
    claimed_at: float | None
    kind: str
    queue: str
    key: str | None
    group: str | None
    chain: int
    run_at: float
    max_attempts: int
    spared: int
    crashes: int
    tag_: int | None
    unique: str | None
    schedule: str | None
    tick: str | None


class End(Record, frozen=True, tag="end"):
    """A row of `finished_jobs` was made. `said` is the token in its output: attempt and incarnation."""

    n: int
    xid: int
    at: float
    committed: float
    by: str
    job: int
    state: str
    attempt: int
    owner: str | None
    kind: str
    queue: str
    chain: int
    next: int | None
    error: str | None
    said_attempt: int | None
    said_owner: str | None


class Forgotten(Record, frozen=True, tag="forgotten"):
    """A row of `finished_jobs` was removed: the job was retried or deleted."""

    n: int
    xid: int
    committed: float
    job: int
    state: str


class Edge(Record, frozen=True, tag="edge"):
    """A job waits for a chain, or (closed) no longer does. `any_end`: it also waits no longer when the chain fails."""

    n: int
    xid: int
    committed: float
    job: int
    slot: int
    chain: int
    any_end: bool
    closed: bool
    end_state: str | None


class Effect(Record, frozen=True, tag="effect"):
    """A handler's own row, written in the transaction that completes its job."""

    n: int
    xid: int
    committed: float
    job: int
    attempt: int


class Tick(Record, frozen=True, tag="tick"):
    """What became of a tick. `every` is the rhythm of its schedule in seconds."""

    n: int
    xid: int
    committed: float
    schedule: str
    origin: str
    tick_at: float
    at: float
    outcome: str
    job_ids: tuple[int, ...]
    every: float | None
    missed: str


class Pause(Record, frozen=True, tag="pause"):
    """A queue was paused or resumed."""

    n: int
    xid: int
    committed: float
    queue: str
    paused: bool


class Limit(Record, frozen=True, tag="limit"):
    """A limit as it is from now on; without numbers it was dropped."""

    n: int
    committed: float
    queue: str
    group: str
    max_running: int | None
    rate: float | None
    burst: int | None


class Worker(Record, frozen=True, tag="worker"):
    """An incarnation of a worker process."""

    incarnation: str
    worker_id: str
    process: str
    started: float


class Ran(Record, frozen=True, tag="ran"):
    """A handler, as its own process saw it; `ended` is None where nobody saw the end."""

    pid: int
    job: int
    attempt: int
    incarnation: str
    started: float
    ended: float | None


class Fault(Record, frozen=True, tag="fault"):
    """Something that was done to the fleet. `targets` are processes; none means the database, so everybody."""

    name: str
    number: str
    started: float
    ended: float
    targets: tuple[str, ...] = ()
    detail: str | None = None


class Health(Record, frozen=True, tag="health"):
    """A process after the faults were over: an exit code that nobody asked for, and what its log complains of."""

    process: str
    pid: int
    exit_code: int | None
    complaints: tuple[str, ...]


class Session(Record, frozen=True, tag="session"):
    """A connection to the database at the end."""

    by: str
    state: str
    idle_in_transaction: float
    snapshot_age: int


class Left(Record, frozen=True, tag="left"):
    """A job that had not finished when the run was over."""

    job: int
    state: str
    run_at: float
    kind: str
    queue: str
    key: str | None


class Over(Record, frozen=True, tag="over"):
    """The run: when load and faults ended, and when the checker stopped waiting for jobs to end."""

    healed: float
    at: float
    finished: int


Entry: TypeAlias = (
    Begin | Call | Change | End | Forgotten | Edge | Effect | Tick | Pause | Limit
    | Worker | Ran | Fault | Health | Session | Left | Over
)  # fmt: skip
