"""What the reading functions answer with."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from leasehold.database import Row

JSON_COLUMNS = frozenset({"args", "output", "error", "metadata", "detail"})


class EnqueuedJob(msgspec.Struct, frozen=True):
    """What an enqueue made, or found: `is_new` is False where the idempotency key was used before."""

    job_id: int
    is_new: bool


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job, finished or not. Times are the database's; what has not happened is None."""

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
    max_attempts: int
    created_at: datetime
    run_at: datetime
    claimed_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    heartbeat_at: datetime | None
    lease_expires_at: datetime | None
    worker_id: str | None


class QueueCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs a queue has in a state."""

    queue: str
    state: str
    jobs: int


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to a job."""

    at: datetime
    event: str
    attempt: int
    worker_id: str | None
    message: str | None
    detail: Any


class WorkerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process. `state` is ready, draining, stale (no heartbeat for three minutes) or stopped.

    `silent_for` is how many seconds ago its last heartbeat was, by the database's clock.
    """

    worker_id: str
    host: str
    pid: int
    version: str
    queues: list[str]
    kinds: list[str]
    slots: int
    active_jobs: int
    state: str
    started_at: datetime
    heartbeat_at: datetime
    incarnation: UUID
    silent_for: float


def decode_json(text: str) -> Any:
    """What a jsonb column holds. Postgres keeps numbers of any size, Python reads those with some thousand digits as text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


S = TypeVar("S", bound=msgspec.Struct)


def from_row(record: type[S], row: Row) -> S:
    """A record from a row that has a column for each of its fields."""
    values: dict[str, Any] = {}
    for name in record.__struct_fields__:
        value = row[name]
        values[name] = decode_json(value) if name in JSON_COLUMNS and value is not None else value
    return record(**values)
