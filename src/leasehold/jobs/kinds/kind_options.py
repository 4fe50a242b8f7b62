"""The options of a kind: as `app.kind` takes them, and as a kind has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypedDict, cast, get_args

import msgspec

from leasehold import validation
from leasehold.errors import BadInput
from leasehold.jobs.handling.retry import RetryPolicy
from leasehold.jobs.producing.unique import Unique

Mode = Literal["atomic"]
MODES: tuple[str, ...] = get_args(Mode)
SHORTEST_LEASE, LONGEST_LEASE = 1.0, 86_400.0
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LEAST_MEMORY_LIMIT = 64 * 1_048_576
DEFAULTS_OF_JOBS = ("queue", "priority", "max_attempts")
"""The options that a job takes over as they are, unless it has its own."""


class KindOptions(TypedDict, total=False):
    """The options of a kind, beside its name, `runs` and `middlewares`. None leaves one to the worker or the database.

    Attributes:
        queue, priority, max_attempts: for jobs that have none of their own.
        unique: likewise, but not for a job that continues a chain.
        key, key_group: likewise, taken from the args of the job: `"args.order_id"`. Numbers become text; a job whose arg is
            missing or None has none.
        check_args: False: enqueueing over SQL, HTTP and other languages takes args that do not fit the handler.
        lease: how long a claim or a renewal holds, 1 second to a day, in seconds or as a timedelta; it is renewed while the
            handler runs.
        timeout: how long the handler may run before it is cancelled and the attempt fails, in seconds or as a timedelta; a
            job may have its own.
        deadline: how long after it was enqueued a job fails for good, whatever its state, in seconds or as a timedelta; a
            job may have its own.
        retry: back-off between attempts; that of the worker if not given.
        mode: `atomic`: the whole handler runs in one transaction, `job.transaction`, which also completes the job.
        memory_limit: bytes of resident memory that the process of a `runs="process"` handler may have; a process that
            takes more is killed.
        keep_logs: a level of `logging`, such as `INFO`; log records of the handler from this level up are kept with the
            job, as those of `job.log` are.
        egress: its handler calls other servers under an identity of `leasehold.egress`; a worker that serves the kind does
            not start while there is none.
    """

    queue: str | None
    priority: int | None
    max_attempts: int | None
    unique: Unique | None
    key: str | None
    key_group: str | None
    check_args: bool | None
    lease: float | timedelta | None
    timeout: float | timedelta | None
    deadline: float | timedelta | None
    retry: RetryPolicy | None
    mode: Mode | None
    memory_limit: int | None
    keep_logs: str | None
    egress: bool | None


class CheckedKindOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one kind, checked: `KindOptions` with all times in seconds, and its middlewares.

    Attributes:
        middlewares: go around the attempts of the kind, outermost first, inside those of its app.

    Raises:
        BadInput: a value is of another type or out of range.
    """

    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    unique: Unique | None = None
    key: str | None = None
    key_group: str | None = None
    check_args: bool = True
    lease: float | None = None
    timeout: float | None = None
    deadline: float | None = None
    retry: RetryPolicy | None = None
    mode: Mode | None = None
    memory_limit: int | None = None
    keep_logs: str | None = None
    egress: bool = False
    middlewares: tuple[Callable[..., Awaitable[Any]], ...] = ()

    def __post_init__(self) -> None:
        if self.queue is not None:
            validation.check_queue("queue", self.queue)
        if self.priority is not None:
            validation.check_integer("priority", self.priority)
        if self.max_attempts is not None:
            validation.check_integer("max_attempts", self.max_attempts, 1, validation.MOST_ATTEMPTS)
        if self.unique is not None and not isinstance(cast("object", self.unique), Unique):
            raise validation.refusal("unique", "a Unique", self.unique)
        for name in ("key", "key_group"):
            check_place(name, getattr(self, name))
        if not isinstance(cast("object", self.check_args), bool):
            raise validation.refusal("check_args", "True or False", self.check_args)
        if self.retry is not None and not isinstance(cast("object", self.retry), RetryPolicy):
            raise validation.refusal("retry", "a RetryPolicy", self.retry)
        if self.mode is not None:
            validation.check_choice("mode", self.mode, MODES)
        validation.check_middlewares(self.middlewares)
        self._check_times()
        if not isinstance(cast("object", self.egress), bool):
            raise validation.refusal("egress", "True or False", self.egress)
        level = cast("object", self.keep_logs)
        if level is not None and not (isinstance(level, str) and level.upper() in LOG_LEVELS):
            raise BadInput(f"keep_logs must be one of {', '.join(LOG_LEVELS)}, not {level!r}")
        limit = cast("object", self.memory_limit)
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < LEAST_MEMORY_LIMIT):
            raise BadInput(f"memory_limit is in bytes and at least {LEAST_MEMORY_LIMIT}, not {limit!r}")

    def _check_times(self) -> None:
        for name in ("lease", "timeout", "deadline"):
            if (value := getattr(self, name)) is not None:
                msgspec.structs.force_setattr(self, name, validation.seconds(name, value))
        if self.lease is not None and not SHORTEST_LEASE <= self.lease <= LONGEST_LEASE:
            raise BadInput(
                f"lease must be at least {SHORTEST_LEASE:g} and at most {LONGEST_LEASE:g} seconds, not {self.lease}"
            )
        for name in ("timeout", "deadline"):
            seconds: float | None = getattr(self, name)
            if seconds is not None and not 0 < seconds <= validation.LONGEST_TIME:
                raise BadInput(f"{name} must be more than 0 seconds and at most 100 years, not {seconds}")


def check_place(option: str, place: object) -> None:
    """Refuse what is no place in the args. Raises BadInput."""
    if place is not None and not (isinstance(place, str) and place.startswith("args.") and all(place.split("."))):
        raise BadInput(f'{option} of a kind must be a place in its args, such as "args.order_id", not {place!r:.100}')


def checked_options(options: KindOptions, middlewares: object) -> CheckedKindOptions:
    """The options as a kind has them. Raises BadInput; TypeError if there is no such option."""
    validation.check_options("a kind", options, KindOptions.__annotations__)
    validation.check_middlewares(middlewares)
    given: Mapping[str, Any] = {name: value for name, value in options.items() if value is not None}
    return CheckedKindOptions(**given, middlewares=tuple(cast("Any", middlewares)))
