"""What an app does when a worker starts and when it stops: what all its handlers share is opened and closed there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

from leasehold import validation
from leasehold.errors import BadInput
from leasehold.jobs.job_host import Context
from leasehold.jobs.kind import AppRuns, Runs, chosen_runs, refuse_flavour

H = TypeVar("H", bound=Callable[[Context], Any])


class Hook(msgspec.Struct, frozen=True):
    """A function of one argument, the state of the worker, and how it runs."""

    name: str
    function: Callable[[Context], Any]
    runs: Runs


class AppHooks:
    """The part of an app that opens and closes what the handlers of a worker share."""

    def __init__(self, runs: AppRuns) -> None:
        self.runs: AppRuns = runs
        self.starts: list[Hook] = []
        self.stops: list[Hook] = []

    @overload
    def on_start(self, function: H, /) -> H: ...
    @overload
    def on_start(self, /, *, runs: AppRuns | None = None) -> Callable[[H], H]: ...
    def on_start(self, function: Any = None, /, *, runs: AppRuns | None = None) -> Any:
        """Call this function with the state of the worker before a worker of this app claims its first job.

        What it puts there, `state[Pool] = pool`, is `job.state[Pool]` in handlers and middlewares. The functions are called
        one after the other, as they were registered. A worker that starts anew after it has lost the database calls them
        again. Where one raises, the worker ends; it waits only for a database of ours that is away.

        Args:
            function: takes the state, and runs as handlers of the app do: an `async def` under `trio` or `asyncio`, on the
                loop of the handlers, a `def` in a thread.
            runs: `trio`, `asyncio` or `thread`, where it is another one than the app's.

        Raises:
            BadInput: it does not take one argument, or cannot run so.

        Example:
            >>> app = App(runs="asyncio")
            >>> class Pool: ...
            >>> @app.on_start
            ... async def open_pool(state: Context) -> None:
            ...     state[Pool] = Pool()
        """
        return self._registered(self.starts, "on_start", function, runs)

    @overload
    def on_stop(self, function: H, /) -> H: ...
    @overload
    def on_stop(self, /, *, runs: AppRuns | None = None) -> Callable[[H], H]: ...
    def on_stop(self, function: Any = None, /, *, runs: AppRuns | None = None) -> Any:
        """Call this function with the state of the worker when all its handlers have ended; the one registered last is first.

        It is called as well where an `on_start` function has failed, and may find less in the state then: use
        `state.get(Pool)`. All together have ten seconds. What it raises is logged, and the others are called. A worker that is
        killed calls none. `on_start` says the rest.
        """
        return self._registered(self.stops, "on_stop", function, runs)

    def _registered(self, hooks: list[Hook], what: str, function: Any, runs: AppRuns | None) -> Any:
        def register(each: H) -> H:
            validation.check_function(f"an {what} function", each)
            name = getattr(each, "__qualname__", repr(each))
            if inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each):
                raise BadInput(
                    f"{what} function {name} is a generator; open things with on_start, close them with on_stop"
                )
            try:
                inspect.signature(each).bind(None)
            except TypeError:
                raise BadInput(f"{what} function {name} is called with one argument, the state of the worker") from None
            refuse_flavour(name, each, chosen := runs or chosen_runs(self.runs, name, each))
            hooks.append(Hook(name, each, chosen))
            return each

        return register if function is None else register(function)
