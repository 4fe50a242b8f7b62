"""A kind of job: its name, its handler, the type of its args, and what it wants other than the defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast, get_args

import msgspec

from leasehold import validation
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.handling.job import NewJob
from leasehold.jobs.handling.retry import RetryPolicy
from leasehold.jobs.kinds.arguments import args_type, encode_args, takes_job
from leasehold.jobs.kinds.importing import refuse_unimportable
from leasehold.jobs.kinds.middleware import Middleware, check_middlewares
from leasehold.jobs.producing.unique import Unique, by_default
from leasehold.validation import LONGEST_TIME

P = ParamSpec("P")
R = TypeVar("R")

Runs = Literal["trio", "asyncio", "thread", "process"]
Mode = Literal["atomic"]
RUNS: tuple[str, ...] = get_args(Runs)
MODES: tuple[str, ...] = get_args(Mode)

SHORTEST_LEASE, LONGEST_LEASE = 1.0, 86_400.0
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LEAST_MEMORY_LIMIT = 64 * 1_048_576


class KindOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind wants; None leaves it to the worker or the database.

    Attributes:
        queue: where its jobs go unless the producer says otherwise.
        priority: likewise.
        max_attempts: likewise.
        unique: likewise; a job that continues a chain asks for nothing.
        lease: seconds a claim or renewal holds; 1 to a day, since it is renewed while the handler runs.
        timeout: seconds a handler may run before it is cancelled and the attempt fails; a job may have its own.
        deadline: seconds after a job was enqueued at which it fails for good, in whatever state it is; likewise.
        retry: back-off between attempts.
        mode: `atomic`: the whole handler runs in one transaction, `job.transaction`, which also completes the job.
        middlewares: go around its attempts, outermost first, inside those of its app.
        memory_limit: bytes of resident memory that the process of a `runs="process"` handler may have.
        keep_logs: a level of `logging`; records of that level and above go from the handler to `job.log` as well.
    """

    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    unique: Unique | None = None
    lease: float | None = None
    timeout: float | None = None
    deadline: float | None = None
    retry: RetryPolicy = RetryPolicy()
    mode: Mode | None = None
    middlewares: tuple[Middleware, ...] = ()
    memory_limit: int | None = None
    keep_logs: str | None = None

    def __post_init__(self) -> None:
        if self.queue is not None:
            validation.check_queue("queue", self.queue)
        if self.priority is not None:
            validation.check_integer("priority", self.priority)
        if self.max_attempts is not None:
            validation.check_integer("max_attempts", self.max_attempts, 1, validation.MOST_ATTEMPTS)
        if self.unique is not None and not isinstance(cast("object", self.unique), Unique):
            raise validation.refusal("unique", "a Unique", self.unique)
        if not isinstance(cast("object", self.retry), RetryPolicy):
            raise validation.refusal("retry", "a RetryPolicy", self.retry)
        if self.mode is not None:
            validation.check_choice("mode", self.mode, MODES)
        check_middlewares(self.middlewares)
        self._check_times()
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
            if seconds is not None and not 0 < seconds <= LONGEST_TIME:
                raise BadInput(f"{name} must be more than 0 seconds and at most 100 years, not {seconds}")


class Kind(Generic[P, R]):
    """A registered handler. Call it like the function it was made from; `new(...)` makes a job of it."""

    def __init__(self, name: str, function: Callable[..., Any], runs: Runs | None, options: KindOptions) -> None:
        validation.check_name("the name of a kind", name)
        self.name = name
        self.function = validation.check_function(f"handler of {name}", function)
        if runs is not None:
            validation.check_choice(f"handler {name}: runs", runs, RUNS)
        self.runs: Runs = ("trio" if inspect.iscoroutinefunction(function) else "thread") if runs is None else runs
        self.options = options
        _refuse_flavour(name, function, self.runs)
        if self.runs == "process":
            refuse_unimportable(name, function)
        elif options.memory_limit is not None:
            raise BadInput(f"handler {name}: memory_limit is for runs='process'; this one runs in {self.runs}")
        if self.runs == "process" and options.mode is not None:
            raise BadInput(f"handler {name}: a process has no connection of its own, so it cannot be {options.mode}")
        self.is_atomic = options.mode == "atomic"
        self.takes_job = takes_job(function)
        self.args_type = args_type(function)
        try:
            self._decoder = msgspec.json.Decoder(self.args_type)
        except (TypeError, NameError) as error:
            raise InvalidArgs(f"handler {name}: its args cannot be told from JSON: {error}") from error
        self._fields = self.args_type.__struct_fields__
        self._unique = by_default(options.unique)
        for field in options.unique.args_fields() if options.unique is not None else ():
            if field not in self._fields:
                raise BadInput(f"unique.by names args.{field}; {name} takes ({', '.join(self._fields)})")

    def __repr__(self) -> str:
        return f"<Kind {self.name!r} runs={self.runs}>"

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob[R]:
        """A job of this kind with these args, checked against the handler's signature now, not when it runs.

        Raises:
            InvalidArgs: wrong names, wrong types, or values that JSON cannot carry.
        """
        encoded = self.encode(self._bind(args, kwargs))
        return self.with_defaults(NewJob(kind=self.name, args=msgspec.Raw(encoded)))

    def with_defaults(self, job: NewJob) -> NewJob:
        """The job with the queue, priority, attempts, uniqueness and deadline of this kind where it says none of its own."""
        own = {"queue": job.queue, "priority": job.priority, "max_attempts": job.max_attempts}
        changes = {name: getattr(self.options, name) for name, value in own.items() if value is None}
        if job.unique is None and self._unique is not None:
            changes["unique"] = self._unique
        if job.deadline is None and self.options.deadline is not None:
            changes["deadline"] = timedelta(seconds=self.options.deadline)
        return msgspec.structs.replace(job, **changes)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        named = dict(zip(self._fields, args, strict=False))
        twice = named.keys() & kwargs.keys()
        if len(args) > len(self._fields) or twice:
            takes = ", ".join(self._fields)
            raise InvalidArgs(f"{self.name} takes ({takes}); got {len(args)} positional and {sorted(kwargs)}")
        return named | kwargs

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """Raises InvalidArgs for names that the handler does not take."""
        if unknown := sorted(set(names) - set(self._fields)):
            raise InvalidArgs(f"{self.name} takes ({', '.join(self._fields)}), not {', '.join(unknown)}")

    def encode(self, named: dict[str, Any]) -> bytes:
        """JSON for these args, proven to decode into what the handler takes."""
        encoded = encode_args(named, f"args of {self.name}")
        self.decode(encoded)
        return encoded

    def decode(self, encoded: bytes | str) -> dict[str, Any]:
        """The handler's named arguments, from JSON.

        Raises:
            InvalidArgs: the JSON does not fit the signature.
        """
        try:
            decoded = self._decoder.decode(encoded)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidArgs(f"args do not fit {self.name}({', '.join(self._fields)}): {error}") from error
        return {name: getattr(decoded, name) for name in self._fields}

    def decode_args(self, encoded: str) -> dict[str, Any]:
        """The named arguments to call the handler with. Raises InvalidArgs."""
        return self.decode(encoded) if self._fields or encoded != "{}" else {}


def _refuse_flavour(name: str, function: Callable[..., Any], runs: Runs) -> None:
    """Refuse a function that cannot run like this. Raises BadInput."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BadInput(f"handler {name} is a generator, which nobody would run; have it return its output, not yield")
    if runs == "thread" and inspect.iscoroutinefunction(function):
        raise BadInput(f"handler {name} is async, so it cannot have runs='thread'; it takes 'trio' or 'asyncio'")
    if (
        runs in {"trio", "asyncio"}
        and not inspect.iscoroutinefunction(function)
        and not inspect.iscoroutinefunction(inspect.unwrap(function))
    ):
        raise BadInput(
            f"handler {name} is no async def, so it cannot have runs={runs!r}; it takes 'thread' or 'process'"
        )
