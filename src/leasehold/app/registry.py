"""The registry of handlers: which function runs which kind.

Every worker has `echo` and `dummy` besides, so that a worker without an app can run jobs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

import msgspec

from leasehold import validation
from leasehold.app.app_schedules import AppSchedules
from leasehold.app.hooks import AppHooks
from leasehold.errors import BadInput, DuplicateKind, InvalidArgs, UnknownKind
from leasehold.events import Event
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.job import Job
from leasehold.jobs.kind import (
    APP_RUNS,
    RUNS,
    AppRuns,
    CheckedKindOptions,
    Kind,
    KindOptions,
    Runs,
    checked_options,
    chosen_runs,
)
from leasehold.jobs.middleware import EnqueueMiddleware, Middleware
from leasehold.observability.observers import Observers

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=Event)
M = TypeVar("M", bound=Middleware)
EM = TypeVar("EM", bound=EnqueueMiddleware)
D = TypeVar("D", bound="Callable[[Job, dict[str, Any]], Any] | Callable[[dict[str, Any]], Any]")


class KindDecorator(Protocol):
    """Turns a handler into a `Kind`.

    For the type checker, `new` of the kind takes the parameters of the handler except the job, and makes a job whose chain
    ends with what the handler returns, or with what the job that it continues with returns.
    """

    @overload
    def __call__(self, function: Callable[Concatenate[Job, P], Awaitable[ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, Awaitable[ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Job, P], Awaitable[R | ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, Awaitable[R | ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Job, P], ContinueWith[R]], /) -> Kind[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, ContinueWith[R]], /) -> Kind[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Job, P], R | ContinueWith[R]], /) -> Kind[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R | ContinueWith[R]], /) -> Kind[P, R]: ...


class App(AppSchedules, AppHooks):
    """Handlers by kind. A worker runs an app; a client with an app checks what it enqueues.

    Args:
        runs: how the handlers run that do not say it themselves. `trio` or `asyncio` for each `async def`, and a thread for
            each `def`; with `thread`, an `async def` has to say which of the two it is written for.
        middlewares: functions around the attempts of all kinds, outermost first. They run under trio, whatever `runs` says.
        version: the version of your code, shown for each worker.

    Raises:
        BadInput: there is no such `runs`, or what should be a middleware is none.

    Example:
        >>> app = App()
        >>> @app.kind()
        ... async def greet(name: str) -> str:
        ...     return f"hello {name}"
        >>> greet.new(name="Ada").kind
        'greet'
    """

    def __init__(
        self, *, runs: AppRuns = "trio", middlewares: Sequence[Middleware] = (), version: str | None = None
    ) -> None:
        validation.check_choice("runs of an app", runs, APP_RUNS)
        AppSchedules.__init__(self)
        AppHooks.__init__(self, runs)
        if version is not None and not isinstance(cast("object", version), str):
            raise validation.refusal("version", "text", version)
        validation.check_middlewares(middlewares)
        self.version = version
        self._origins: dict[Kind[..., Any], App] = {}
        self._middlewares = list(middlewares)
        self.default: Kind[..., Any] | None = None
        self.enqueue_middlewares: list[EnqueueMiddleware] = []
        self.observers = Observers()

    @overload
    def kind(self, function: Callable[Concatenate[Job, P], Awaitable[ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def kind(self, function: Callable[P, Awaitable[ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def kind(self, function: Callable[Concatenate[Job, P], Awaitable[R | ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def kind(self, function: Callable[P, Awaitable[R | ContinueWith[R]]], /) -> Kind[P, R]: ...
    @overload
    def kind(self, function: Callable[Concatenate[Job, P], ContinueWith[R]], /) -> Kind[P, R]: ...
    @overload
    def kind(self, function: Callable[P, ContinueWith[R]], /) -> Kind[P, R]: ...
    @overload
    def kind(self, function: Callable[Concatenate[Job, P], R | ContinueWith[R]], /) -> Kind[P, R]: ...
    @overload
    def kind(self, function: Callable[P, R | ContinueWith[R]], /) -> Kind[P, R]: ...
    @overload
    def kind(
        self,
        name: str | None = None,
        *,
        runs: Runs | None = None,
        middlewares: Sequence[Middleware] = (),
        **options: Unpack[KindOptions],
    ) -> KindDecorator: ...
    def kind(
        self,
        name: Any = None,
        *,
        runs: Runs | None = None,
        middlewares: Sequence[Middleware] = (),
        **options: Unpack[KindOptions],
    ) -> Any:
        """Register a handler. `@app.kind` is the same as `@app.kind()`.

        An `async def` runs as the app says, under trio if it says nothing; a `def` runs in a thread. Use `runs="asyncio"` for
        asyncio code and `runs="process"` for a `def` that keeps a CPU busy.

        Args:
            name: the name of the kind; the name of the function if not given.
            runs: `trio`, `asyncio`, `thread` or `process`.
            middlewares: functions around its attempts, outermost first, inside those of the app.
            options: as in `KindOptions`.

        Raises:
            DuplicateKind: the name is taken.
            BadInput: the value of an option does not exist or is out of range, `unique` names an arg that the handler does
                not take, or the handler cannot run as `runs` says.
            InvalidArgs: JSON cannot give the parameters of the handler, or another process could not import it.
            TypeError: there is no such option.
        """
        if isinstance(name, str):
            validation.check_name("the name of a kind", name)
        elif name is not None and not callable(name):
            raise validation.refusal("the name of a kind", "text", name)
        if runs is not None:
            validation.check_choice("runs", runs, RUNS)
        checked = checked_options(options, middlewares)

        def register(function: Callable[..., Any]) -> Kind[..., Any]:
            validation.check_function("a handler", function)
            own = name if isinstance(name, str) else getattr(function, "__name__", None)
            if own is None:
                raise BadInput(f"{function!r:.100} has no name; give its kind one, as in app.kind('send')")
            made: Kind[..., Any] = Kind(own, function, runs or chosen_runs(self.runs, own, function), checked)
            self.add(made)
            return made

        return register(name) if callable(name) else register

    def default_handler(self, function: D) -> D:
        """Register the handler of all kinds without one of their own. It is called with the job and its args as a dict.

        Raises:
            InvalidArgs: it takes something else than the job, which it may leave out, and one parameter for all args.
        """
        self.default = FreeKind("*", function, chosen_runs(self.runs, "*", function), CheckedKindOptions())
        return function

    def add(self, kind: Kind[..., Any]) -> None:
        """Register a kind that was made elsewhere. Raises DuplicateKind."""
        if kind.name in self._kinds:
            raise DuplicateKind(f"kind {kind.name!r} has a handler already: {self._kinds[kind.name].function!r}")
        self._kinds[kind.name] = kind

    def merge(self, other: App) -> None:
        """Add all kinds and schedules of another app and what it does at start and stop, but not its default handler.

        The kinds keep the middlewares of the other app, inside those of this one.

        Raises:
            DuplicateKind, DuplicateSchedule: a name is taken.
        """
        for kind in other:
            self.add(kind)
            self._origins[kind] = other
        for schedule in other.schedules:
            self.add_schedule(schedule)
        self.enqueue_middlewares += [each for each in other.enqueue_middlewares if each not in self.enqueue_middlewares]
        self.observers.include(other.observers)
        self.starts += [each for each in other.starts if each not in self.starts]
        self.stops += [each for each in other.stops if each not in self.stops]

    def take_default(self, other: App) -> None:
        """Use the default handler of another app, if it has one, with the middlewares of that app."""
        if other.default is not None:
            self.default = other.default
            self._origins[other.default] = other

    def middleware(self, function: M) -> M:
        """Put a middleware around the attempts of all kinds of this app, inside the middlewares added before.

        Add it before the worker starts. It also applies to kinds that were registered earlier.

        Raises:
            BadInput: it is not a function of two arguments, or it is a generator.
        """
        validation.check_middleware(function)
        self._middlewares.append(function)
        return function

    def middlewares_of(self, kind: Kind[..., Any]) -> tuple[Middleware, ...]:
        """The middlewares around the attempts of a kind of this app, outermost first."""
        origin = self._origins.get(kind)
        inner = kind.options.middlewares if origin is None else origin.middlewares_of(kind)
        return (*self._middlewares, *inner)

    def enqueue_middleware(self, function: EM) -> EM:
        """Put a middleware around each enqueue of clients with this app, inside the middlewares added before. Raises BadInput."""
        validation.check_middleware(function, "the jobs and call_next")
        self.enqueue_middlewares.append(function)
        return function

    def subscribe(self, event_type: type[E], function: Callable[[E], object]) -> Callable[[], None]:
        """Call `function` with each event of this type (see `leasehold.events`) from workers and clients of this app in this
        process. Returns a function that ends the subscription. `Observers` says what `function` may do."""
        return self.observers.subscribe(event_type, function)

    def find(self, name: str) -> Kind[..., Any]:
        """The kind of this name, else the default handler. Raises UnknownKind."""
        kind = self._kinds.get(name) or self.default
        if kind is None:
            known = ", ".join(sorted(self._kinds)) or "none"
            raise UnknownKind(f"no handler is registered for kind {name!r}; there are: {known}")
        return kind

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def __iter__(self) -> Iterator[Kind[..., Any]]:
        return iter(self._kinds.values())

    @property
    def served_kinds(self) -> list[str]:
        """The kinds that a worker with this app claims; empty means all kinds, since the app has a default handler."""
        return [] if self.default is not None else sorted(self._kinds)


class FreeKind(Kind[..., Any]):
    """A handler that takes the job and any args as a dict: the default handler, `echo`."""

    takes_any_args = True

    def __init__(self, name: str, function: Callable[..., Any], runs: Runs | None, options: CheckedKindOptions) -> None:
        super().__init__(name, function, runs, options)
        if len(fields := self.args_type.__struct_fields__) != 1:
            shown = getattr(function, "__qualname__", function)
            raise InvalidArgs(
                f"handler {shown} takes ({', '.join(fields)}): it must take (job: Job, args), all args as a dict"
            )

    def decode(self, encoded: bytes | str) -> dict[str, Any]:
        """All args, under the name of the one parameter of the handler. Raises InvalidArgs."""
        try:
            return {self.args_type.__struct_fields__[0]: msgspec.json.decode(encoded)}
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidArgs(f"args of {self.name}: {error}") from error

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """Refuse nothing: all names are taken."""

    def encode(self, named: dict[str, Any]) -> bytes:
        """JSON for any args. Raises InvalidArgs."""
        return encode_args(named, f"args of {self.name}")


async def echo(_job: Job, args: dict[str, Any]) -> dict[str, Any]:
    """Return the args."""
    return args


async def dummy(job: Job, seconds: float = 0.0, fail_attempts: int = 0) -> str:
    """Sleep for `seconds`; then fail if this is one of the first `fail_attempts` attempts."""
    import trio  # noqa: PLC0415  a client knows these kinds, too, and may need none

    await trio.sleep(seconds)
    if job.attempt <= fail_attempts:
        raise RuntimeError(f"told to fail {fail_attempts} attempts; this is attempt {job.attempt}")
    return f"dummy {job.id} done"


def builtin_app() -> App:
    """An app with `echo` and `dummy`."""
    app = App()
    app.add(FreeKind("echo", echo, None, CheckedKindOptions()))
    app.kind()(dummy)
    return app


def with_builtins(app: App | None) -> App:
    """The handlers of `app`, with `echo` and `dummy` unless it has these names itself. A default handler gets the others."""
    served = App() if app is None else App(runs=app.runs, version=app.version)
    if app is not None:
        served.merge(app)
        served.take_default(app)
    for kind in builtin_app():
        if kind.name not in served:
            served.add(kind)
    return served


def find_kind(app: App, name: str) -> Kind[..., Any]:
    """The kind of this name in the app, else `echo` or `dummy`. Raises UnknownKind."""
    if name in app or name not in _every_worker():
        return app.find(name)
    return _every_worker().find(name)


def own_kinds(app: App) -> list[Kind[..., Any]]:
    """The kinds of the app without those that every worker has."""
    return [kind for kind in app if kind.function not in (echo, dummy)]


@cache
def _every_worker() -> App:
    return builtin_app()
