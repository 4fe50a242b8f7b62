"""How handlers run: under trio, under asyncio, in a thread or in a process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, get_args

from leasehold.errors import BadInput

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
