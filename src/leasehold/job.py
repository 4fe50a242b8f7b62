"""A job as its producer and as its handler see it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec


class NewJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A job to enqueue. What is None is left to the database: queue `default`, priority 0, at once, 20 attempts.

    Attributes:
        kind: which handler runs it.
        args: JSON object, as a mapping or already encoded.
        queue: workers choose what they serve by it.
        priority: higher first, then oldest.
        run_at: not before this time. Give this or `delay`.
        delay: seconds from now.
        key: the subject of the job; at most one job of a key is active at a time.
        max_attempts: how often it may be tried.
        idempotency_key: enqueueing again with the same one makes no second job.
        metadata: JSON object for people and filters.
    """

    kind: str
    args: msgspec.Raw | Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    queue: str | None = None
    priority: int | None = None
    run_at: datetime | None = None
    delay: float | None = None
    key: str | None = None
    max_attempts: int | None = None
    idempotency_key: str | None = None
    metadata: Mapping[str, Any] | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a handler runs, as its first parameter.

    `(id, attempt, incarnation)` is the fencing token: pass it to `leasehold.assert_lease` in your own SQL.

    Attributes:
        id: of the job.
        kind: of the job.
        queue: it was claimed from.
        attempt: counts up at each claim; 1 at first.
        max_attempts: as enqueued.
        incarnation: of the worker process that holds the lease.
        worker_id: of that worker.
        key: of the job.
        priority: of the job.
        metadata: of the job.
        created_at: by the database's clock.
        run_at: by the database's clock.
    """

    id: int
    kind: str
    queue: str
    attempt: int
    max_attempts: int
    incarnation: UUID
    worker_id: str
    key: str | None
    priority: int
    metadata: dict[str, Any] | None
    created_at: datetime
    run_at: datetime
