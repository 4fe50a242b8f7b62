"""A kind of jobs: its handler, its options, and where it runs."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from functools import reduce
from typing import Any, Generic, Literal, ParamSpec, TypedDict, TypeVar, cast, get_args

import msgspec

from leasehold import validation
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.arguments import args_type, check_output, derived_key, encode_args, takes_job
from leasehold.jobs.endings import RetryPolicy
from leasehold.jobs.foreign_types import from_json
from leasehold.jobs.new_job import NewJob, Unique, UniqueByDefault

Runs = Literal["trio", "asyncio", "thread", "process"]
RUNS: tuple[str, ...] = get_args(Runs)
AppRuns = Literal["trio", "asyncio", "thread"]
APP_RUNS: tuple[str, ...] = get_args(AppRuns)


def chosen_runs(app_runs: AppRuns, name: str, function: Callable[..., Any]) -> Runs:
    """How a handler runs that does not say it itself, in an app that runs like this.

    Raises:
        BadInput: the app runs in threads, and this handler is async.
    """
    if not inspect.iscoroutinefunction(function):
        return "thread"
    if app_runs == "thread":
        raise BadInput(
            f"handler {name} is async, and its app has runs='thread': "
            "give the kind runs='asyncio' or runs='trio', or the app"
        )
    return app_runs


def refuse_flavour(name: str, function: Callable[..., Any], runs: Runs) -> None:
    """Refuse a function that cannot run like this. Raises BadInput."""
    if inspect.isclass(function):
        raise BadInput(f"handler {name} is a class, and its output would be an object of it; write a def around it")
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


def refuse_unimportable(kind: str, function: Callable[..., Any]) -> None:
    """Refuse a handler that another process cannot find or call, when it is registered.

    Raises:
        InvalidArgs: a lambda, a function inside a function, an async function, or an object without a name.
    """
    qualname = getattr(function, "__qualname__", None)
    if not isinstance(qualname, str) or not isinstance(getattr(function, "__module__", None), str):
        raise InvalidArgs(
            f"handler {kind}: {function!r} has no name to import it by; runs='process' needs a plain function"
        )
    if "<" in qualname:
        what = "a lambda" if qualname.endswith("<lambda>") else f"{qualname}, made inside a function,"
        raise InvalidArgs(
            f"handler {kind}: {what} cannot be imported by another process; put it at the top of its module"
        )
    if inspect.iscoroutinefunction(function):
        raise InvalidArgs(f"handler {kind}: {qualname} is async; runs='process' is for plain functions")


def check_importable(kind: str, function: Callable[..., Any]) -> None:
    """Refuse a handler whose module and name do not lead to it. Call it when all modules are loaded.

    Raises:
        InvalidArgs: there is nothing of this name, or something else.
    """
    place = f"{function.__module__}:{function.__qualname__}"
    try:
        found = find_object(function.__module__, function.__qualname__)
    except (ImportError, AttributeError) as error:
        raise InvalidArgs(f"handler {kind}: {place} cannot be imported, so no process can run it: {error}") from error
    if found is not function and getattr(found, "function", None) is not function:
        raise InvalidArgs(f"handler {kind}: {place} is {found!r} and not this handler, so no process can run it")


def find_object(module: str, qualname: str) -> Any:
    """The object of this name. Raises ImportError, AttributeError, or what importing the module raises."""
    return reduce(getattr, qualname.split("."), importlib.import_module(module))


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
        for name in ("check_args", "egress"):
            if not isinstance(value := getattr(self, name), bool):
                raise validation.refusal(name, "True or False", value)
        if self.retry is not None and not isinstance(cast("object", self.retry), RetryPolicy):
            raise validation.refusal("retry", "a RetryPolicy", self.retry)
        if self.mode is not None:
            validation.check_choice("mode", self.mode, MODES)
        validation.check_middlewares(self.middlewares)
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


P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Kind(Generic[P, R_co]):
    """A registered handler: `@app.kind()` makes one of a function, and `new(...)` makes a job of it.

    Calling a kind calls its function, here and now: `greet("Ada")`. It makes no job.

    Attributes:
        name: of the kind, unique in its app.
        function: the handler.
        runs: `trio`, `asyncio`, `thread` or `process`.
        options: checked, with times in seconds.
        takes_any_args: whether its handler gets its args as one dict.
    """

    takes_any_args = False

    def __init__(self, name: str, function: Callable[..., Any], runs: Runs | None, options: CheckedKindOptions) -> None:
        validation.check_name("the name of a kind", name)
        self.name = name
        self.function = validation.check_function(f"handler of {name}", function)
        if runs is not None:
            validation.check_choice(f"handler {name}: runs", runs, RUNS)
        self.runs: Runs = chosen_runs("trio", name, function) if runs is None else runs
        self.options = options
        refuse_flavour(name, function, self.runs)
        if self.runs == "process":
            refuse_unimportable(name, function)
        elif options.memory_limit is not None:
            raise BadInput(f"handler {name}: memory_limit is for runs='process'; this one runs in {self.runs}")
        if self.runs == "process" and options.mode is not None:
            raise BadInput(f"handler {name}: a process has no connection of its own, so it cannot be {options.mode}")
        self.is_atomic = options.mode == "atomic"
        self.takes_job = takes_job(function)
        self.args_type = args_type(function)
        check_output(function)
        try:
            self._decoder = msgspec.json.Decoder(self.args_type, dec_hook=from_json)
        except (TypeError, NameError) as error:
            raise InvalidArgs(f"handler {name}: its args cannot be told from JSON: {error}") from error
        self._fields = self.args_type.__struct_fields__
        self._unique = options.unique and UniqueByDefault(**msgspec.structs.asdict(options.unique))
        for field in options.unique.args_fields() if options.unique is not None else ():
            if field not in self._fields:
                raise BadInput(f"unique.by names args.{field}; {name} takes ({', '.join(self._fields)})")
        self._places = [(each, place) for each in ("key", "key_group") if (place := getattr(options, each)) is not None]
        for each, place in self._places:
            if place.split(".")[1] not in self._fields and not self.takes_any_args:
                raise BadInput(f"{each} names {place}; {name} takes ({', '.join(self._fields)})")

    def __repr__(self) -> str:
        return f"<Kind {self.name!r} runs={self.runs}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns; a handler that takes the job needs one as its first argument."""
        return self.function(*args, **kwargs)

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob[R_co]:
        """A job of this kind with these args, checked against the signature of the handler.

        Raises:
            InvalidArgs: a name or a type is wrong, or JSON cannot hold a value.
        """
        encoded = self.encode(self._bind(args, kwargs))
        return self.with_defaults(NewJob(kind=self.name, args=msgspec.Raw(encoded)))

    def with_defaults(self, job: NewJob) -> NewJob:
        """The job with the queue, priority, attempts, unique, deadline and, where its args are encoded, keys of this kind where
        it has none of its own. Raises InvalidArgs: an object or a list is where its key should be."""
        changes = {name: getattr(self.options, name) for name in DEFAULTS_OF_JOBS if getattr(job, name) is None}
        if job.unique is None and self._unique is not None:
            changes["unique"] = self._unique
        if job.deadline is None and self.options.deadline is not None:
            changes["deadline"] = timedelta(seconds=self.options.deadline)
        for name, place in self._places:
            if getattr(job, name) is None and isinstance(job.args, msgspec.Raw):
                changes[name] = derived_key(bytes(job.args), place, f"{name.replace('_', ' ')} of {self.name}")
        return msgspec.structs.replace(job, **changes)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        named = dict(zip(self._fields, args, strict=False))
        twice = named.keys() & kwargs.keys()
        if len(args) > len(self._fields) or twice:
            takes = ", ".join(self._fields)
            raise InvalidArgs(f"{self.name} takes ({takes}); got {len(args)} positional and {sorted(kwargs)}")
        return named | kwargs

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """Refuse names that the handler does not take. Raises InvalidArgs."""
        if unknown := sorted(set(names) - set(self._fields)):
            raise InvalidArgs(f"{self.name} takes ({', '.join(self._fields)}), not {', '.join(unknown)}")

    def encode(self, named: dict[str, Any]) -> bytes:
        """JSON for these args, after a check that it decodes into what the handler takes. Raises InvalidArgs."""
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
        """The named arguments of the handler; as `decode`, and faster without args. Raises InvalidArgs."""
        return self.decode(encoded) if self._fields or encoded != "{}" else {}
