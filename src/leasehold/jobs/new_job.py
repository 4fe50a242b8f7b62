"""What a producer says: a job to be made, and when it is not made because there is one already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeAlias, TypedDict, Unpack, cast, get_args

import msgspec

from leasehold import validation
from leasehold.errors import BadInput
from leasehold.records.jobs import ANY_STATE, QUEUED

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    R_co = TypeVar("R_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    R_co = TypeVar("R_co", covariant=True)


OnConflict = Literal["existing", "reject", "replace", "extend", "overwrite"]

PARTS = ("kind", "queue", "key", "key_group", "args")
SCOPES = ("job", "chain")
CONFLICTS = get_args(OnConflict)


class Unique(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """At most one job with the same `by` or `key`, kept by a unique index of the database.

    Attributes:
        by: what two equal jobs have in common: `kind`, `queue`, `key`, `key_group`, `args`, or `args.NAME` for one of the
            args; kind and all args if not given.
        key: text that stands for the job, instead of `by`. Jobs of different kinds with the same text are equal.
        window: seconds or timedelta; jobs enqueued longer ago do not count.
        states: jobs in other states do not count. `UNFINISHED` (the default), `QUEUED`, `ANY_STATE`, or a list that contains
            all of `QUEUED`.
        scope: `job`: the state of the job counts. `chain`: the state of the chain that the job began.
        exclude: ids of chains that do not count, such as its own when a job starts its successor.
        on_conflict: what happens if an equal job exists. `existing` returns its id, `reject` raises `UniqueConflict`,
            `replace` gives it the new args (and priority and metadata where given), `extend` gives it the new `run_at`,
            `overwrite` does both. A job that a worker holds does not change.

    Raises:
        BadInput: `by` and `key` are both given, `window` is not more than 0, or a value does not exist.
    """

    by: Sequence[str] | None = None
    key: str | None = None
    window: float | timedelta | None = None
    states: Sequence[str] | None = None
    scope: Literal["job", "chain"] = "job"
    exclude: Sequence[int] = ()
    on_conflict: OnConflict = "existing"

    def __post_init__(self) -> None:
        if self.by is not None and self.key is not None:
            raise BadInput("unique takes by or key, not both")
        if isinstance(self.by, str) or isinstance(self.states, str):
            raise BadInput(
                f"by and states are lists of names, not {self.by if isinstance(self.by, str) else self.states!r}"
            )
        seconds = None if self.window is None else validation.seconds("unique.window", self.window)
        msgspec.structs.force_setattr(self, "window", seconds)
        if seconds is not None and not 0 < seconds <= validation.LONGEST_TIME:
            raise BadInput(f"window must be more than 0 seconds, not {self.window}")
        if self.key is not None and not isinstance(cast("object", self.key), str):
            raise validation.refusal("unique.key", "text", self.key)
        validation.check_choice("unique.scope", self.scope, SCOPES)
        validation.check_choice("unique.on_conflict", self.on_conflict, CONFLICTS)
        if self.by is not None:
            _check_by(self.by)
        if self.states is not None:
            _check_states(self.states)
        for chain_id in validation.items("unique.exclude", self.exclude, "ids of chains"):
            validation.check_integer("unique.exclude", chain_id, 0, validation.LARGEST_BIGINT)

    @classmethod
    def debounce(cls, by: Sequence[str] | None = None, *, key: str | None = None) -> Self:
        """A job that starts when nobody has asked for it for a while. Give the job a `delay`: that is the while.

        Each further job that is enqueued before it has started moves it on and gives it the newest args. Once it has
        started, the next one is a new job.

        Args:
            by: as the attribute.
            key: as the attribute.
        """
        return cls(by=by, key=key, states=QUEUED, on_conflict="overwrite")

    @classmethod
    def throttle(cls, window: float | timedelta, by: Sequence[str] | None = None, *, key: str | None = None) -> Self:
        """At most one job in a window of time, whatever has become of it; others get the id of that one.

        Args:
            window: seconds or timedelta, from when the job was enqueued; longer than `retention_days` has no further effect.
            by: as the attribute.
            key: as the attribute.
        """
        return cls(by=by, key=key, window=window, states=ANY_STATE)

    def args_fields(self) -> list[str]:
        """The names of the args that `by` lists one by one."""
        return [part.removeprefix("args.") for part in self.by or () if part.startswith("args.")]


def _check_by(by: object) -> None:
    parts = validation.items("unique.by", by, 'names such as ["kind", "args.shop_id"]')
    if not parts:
        raise validation.refusal("unique.by", 'a list such as ["kind", "args.shop_id"]', by)
    for part in parts:
        if part not in PARTS and not (isinstance(part, str) and part.startswith("args.") and part != "args."):
            raise BadInput(f"unique.by takes kind, queue, key, key_group, args and args.FIELD, not {part!r:.100}")


def _check_states(states: object) -> None:
    names = validation.items("unique.states", states, "states")
    for state in names:
        validation.check_choice("unique.states", state, ANY_STATE)
    if missing := [state for state in QUEUED if state not in names]:
        raise BadInput(
            f"unique.states must have {', '.join(QUEUED)}, between which a job moves by itself; there is no {missing[0]}"
        )


class UniqueByDefault(Unique, frozen=True, kw_only=True, omit_defaults=True):
    """The `unique` of a kind, for its jobs that have none; a job that continues a chain drops it."""


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


def waits_for_nobody(job: NewJob[Any]) -> bool:
    """Whether the statement that enqueues the job never waits for a transaction that has the same key."""
    return job.idempotency_key is None and job.unique is None and not job.blockers


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
        max_attempts: how often the job may be tried; with 1 it fails where its worker dies.
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
