"""A job as its producer sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import msgspec

from leasehold.jobs.producing.unique import Unique

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    R_co = TypeVar("R_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    R_co = TypeVar("R_co", covariant=True)

Blocker: TypeAlias = "NewJob[Any] | int | Ended"
"""A chain to wait for: its id, or a new job that begins it; in `ended(…)`, where any end of it will do."""


class Ended(msgspec.Struct, frozen=True):
    """A chain to wait for that may also fail or be cancelled. Made by `ended`."""

    chain: NewJob[Any] | int


def ended(chain: NewJob[Any] | int) -> Ended:
    """Wait for a chain however it ends: `blockers=[ended(part.new(n)) for n in range(10)]`.

    One that fails for good or is cancelled leaves `None` in its place in `job.blockers()`; give a type that allows it,
    such as `int | None`. A failed attempt that will be tried again is no end. What is retried by hand afterwards is not
    waited for any more.
    """
    return Ended(chain)


def begins_chain(blocker: Blocker) -> bool:
    """Whether it is a new job, not a chain that is there already."""
    return isinstance(blocker.chain if isinstance(blocker, Ended) else blocker, NewJob)


class NewJob(
    msgspec.Struct, Generic[R_co], frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):  # fmt: skip
    """A job to enqueue. What is None is left to the database: queue `default`, priority 0, at once, 20 attempts.

    A `NewJob[R]` begins or continues a chain that ends with an `R`, as far as the type checker knows.

    Attributes:
        kind: which handler runs it.
        args: JSON object, as a mapping or already encoded.
        queue: workers choose what they serve by it.
        priority: higher first, then oldest.
        run_at: not before this time. Give this or `delay`.
        delay: from now, in seconds or as a timedelta.
        key: the subject of the job; at most one job of a key is active at a time.
        key_group: what limits of each group count by: a tenant, a host.
        max_attempts: how often it may be tried.
        timeout: how long one attempt may run, over the kind's, in seconds or as a timedelta.
        deadline: when the job fails, whatever state it is in: a time, or how long after it was enqueued, in seconds or as a
            timedelta.
        idempotency_key: enqueueing again with the same one makes no second job, whatever else is different.
        fingerprint: text that stands for a whole request, to which the idempotency key belongs then: the same jobs in the
            same order are found again, the key with another fingerprint is refused, and keys without one are others. The
            gateway gives it where the key came as a header.
        unique: which other jobs count as this one, and what becomes of it then.
        blockers: chains that have to complete first, by id or as new jobs, made together with this one; the handler
            finds their outputs, in this order, with `job.blockers()`.
        traceparent: of the trace that this job belongs to (W3C).
        metadata: JSON object for people and filters.
    """

    kind: str
    args: msgspec.Raw | Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    queue: str | None = None
    priority: int | None = None
    run_at: datetime | None = None
    delay: float | timedelta | None = None
    key: str | None = None
    key_group: str | None = None
    max_attempts: int | None = None
    timeout: float | timedelta | None = None
    deadline: datetime | timedelta | float | None = None
    idempotency_key: str | None = None
    fingerprint: str | None = None
    unique: Unique | None = None
    blockers: Sequence[Blocker] | None = None
    traceparent: str | None = None
    metadata: Mapping[str, Any] | None = None

    def but(
        self,
        *,
        queue: str | None = None,
        priority: int | None = None,
        run_at: datetime | None = None,
        delay: float | timedelta | None = None,
        key: str | None = None,
        key_group: str | None = None,
        max_attempts: int | None = None,
        timeout: float | timedelta | None = None,
        deadline: datetime | timedelta | float | None = None,
        idempotency_key: str | None = None,
        unique: Unique | None = None,
        blockers: Sequence[Blocker] | None = None,
        traceparent: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> NewJob[R_co]:
        """The same job with these options: `ship.new(order).but(delay=60, queue="slow")`.

        What is None stays as it is. `run_at` takes the place of a `delay`, and the other way round. `delay`, `timeout`
        and `deadline` are in seconds or a timedelta; a deadline may also be a time.
        """
        given: dict[str, Any] = {
            "queue": queue,
            "priority": priority,
            "run_at": run_at,
            "delay": _seconds(delay),
            "key": key,
            "key_group": key_group,
            "max_attempts": max_attempts,
            "timeout": _seconds(timeout),
            "deadline": deadline,
            "idempotency_key": idempotency_key,
            "unique": unique,
            "blockers": blockers,
            "traceparent": traceparent,
            "metadata": metadata,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        if run_at is not None or delay is not None:
            changes |= {"run_at": run_at, "delay": given["delay"]}
        return msgspec.structs.replace(self, **changes)


def _seconds(time: float | timedelta | None) -> float | None:
    return time.total_seconds() if isinstance(time, timedelta) else time
