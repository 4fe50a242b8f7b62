"""A job as its producer sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, Unpack

import msgspec

from leasehold import validation
from leasehold.jobs.producing.unique import Unique

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    R_co = TypeVar("R_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    R_co = TypeVar("R_co", covariant=True)

Blocker: TypeAlias = "NewJob[Any] | int | Ended"
"""A chain to wait for: its id, or a new job that begins it; wrapped in `ended(…)` if the chain may also fail."""


class Ended(msgspec.Struct, frozen=True):
    """A chain to wait for that may also fail or be cancelled. Made by `ended`."""

    chain: NewJob[Any] | int


def ended(chain: NewJob[Any] | int) -> Ended:
    """Wait for a chain however it ends: `blockers=[ended(part.new(n)) for n in range(10)]`.

    A chain that fails for good or is cancelled leaves `None` in its place in `job.blockers()`; give a type that allows it,
    such as `int | None`. A failed attempt that will be retried does not end the chain. A chain that somebody retries by
    hand after its end is not waited for again.
    """
    return Ended(chain)


def begins_chain(blocker: Blocker) -> bool:
    """Whether the blocker is a new job; else it is a chain that exists already."""
    return isinstance(blocker.chain if isinstance(blocker, Ended) else blocker, NewJob)


class JobOptions(TypedDict, total=False):
    """The options of a job: what `client.enqueue`, `job.but` and `NewJob` take beside the kind and its args.

    None leaves the choice to the kind, then to the database: queue `default`, priority 0, at once, 20 attempts.

    Attributes:
        queue: each worker serves some queues.
        priority: higher first, then oldest first.
        run_at: not before this time. Give `run_at` or `delay`.
        delay: not before this long from now, in seconds or as a timedelta.
        key: the subject of the job; at most one job of a key is active at a time.
        key_group: what the limits of each group count by, such as a tenant or a host.
        max_attempts: how often the job may be tried.
        timeout: how long one attempt may run, in seconds or as a timedelta; it takes the place of the kind's.
        deadline: when the job fails, whatever its state: a time, or how long after it was enqueued, in seconds or as a
            timedelta.
        idempotency_key: enqueueing again with the same key makes no second job, even if everything else differs.
        unique: which other jobs count as this one, and what happens if there is one.
        blockers: chains that have to complete first, by id or as new jobs, which are made together with this one; the
            handler finds their outputs, in this order, with `job.blockers()`.
        traceparent: the trace that this job belongs to (W3C); if not given, that of the running job that makes it.
        metadata: JSON object for people and filters.
    """

    queue: str | None
    priority: int | None
    run_at: datetime | None
    delay: float | timedelta | None
    key: str | None
    key_group: str | None
    max_attempts: int | None
    timeout: float | timedelta | None
    deadline: datetime | timedelta | float | None
    idempotency_key: str | None
    unique: Unique | None
    blockers: Sequence[Blocker] | None
    traceparent: str | None
    metadata: Mapping[str, Any] | None


JOB_OPTIONS = tuple(JobOptions.__annotations__)
"""The names of the options of a job."""


class NewJob(msgspec.Struct, Generic[R_co], frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A job to enqueue.

    A `NewJob[R]` begins or continues a chain that ends with an `R`, as far as the type checker knows.

    Attributes:
        kind: which handler runs it.
        args: JSON object, as a mapping or already encoded.
        fingerprint: text that stands for a whole request. The idempotency key then belongs to that request: the same jobs
            in the same order are found again, and the key with another fingerprint is refused. The same key without a
            fingerprint is another key. The gateway sets it when the key comes as a header.
        check_args: False: the args are not held against what the handler takes, and its worker finds out.

    All other attributes are options, described in `JobOptions`.
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
    check_args: bool = True

    def but(self, **options: Unpack[JobOptions]) -> NewJob[R_co]:
        """The same job with these options: `ship.new(order).but(delay=60, queue="slow")`.

        An option that is None stays as it is. `run_at` takes the place of a `delay`, and the other way round.

        Args:
            options: as in `JobOptions`; times are in seconds or timedeltas.

        Raises:
            TypeError: there is no such option.
        """
        validation.check_options("a job", options, JOB_OPTIONS)
        changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        for name in ("delay", "timeout"):
            if isinstance(length := changes.get(name), timedelta):
                changes[name] = length.total_seconds()
        if "run_at" in changes or "delay" in changes:
            changes = {"run_at": None, "delay": None} | changes
        return msgspec.structs.replace(self, **changes) if changes else self
