"""Handlers and middlewares written for another flavour than the one they run in: how they show, and what to do about it."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator, Mapping
from inspect import iscoroutine
from typing import Any, cast

from leasehold.errors import WrongFlavour
from leasehold.jobs.kind import Kind

SIGNS: Mapping[str, tuple[tuple[type[Exception], str], ...]] = {
    "trio": (
        (TypeError, "trio.run received unrecognized yield message"),
        (RuntimeError, "should be used inside a task"),
        (RuntimeError, "cannot determine the parent task"),
        (RuntimeError, "no running event loop"),
        (RuntimeError, "There is no current event loop"),
        (AttributeError, "'NoneType' object has no attribute 'create_future'"),  # asyncio's events, locks and queues
    ),
    "asyncio": (
        (RuntimeError, "must be called from async context"),
        (RuntimeError, "Task got bad yield"),
    ),
}
OTHER = {"trio": "asyncio", "asyncio": "trio"}
SLOT = "leasehold.actors.running.slot"
HANDLER, MIDDLEWARES = "_call", "_call_within"
"""Where a slot calls the one and the others."""


def call_in_thread(kind: Kind[..., Any], call: Callable[[], Any]) -> Any:
    """Call a plain handler in its thread. Raises WrongFlavour where it returns a coroutine, and what the handler raises."""
    try:
        made = call()
    finally:
        # The thread runs other jobs later: an event loop that this one has set and left is not theirs.
        # One that still runs in a greenlet, as sync Playwright's does, keeps its mark on the thread: only this takes it off.
        asyncio.set_event_loop(None)
        asyncio._set_running_loop(None)
    if not iscoroutine(made):
        return made
    made.close()
    raise WrongFlavour(
        f"handler {kind.name} is a plain function and returned a coroutine, which nobody awaits in its thread: "
        f"write it, or what wraps it, as `async def`, or add runs='asyncio' or runs='trio'"
    )


def wrong_flavour(kind: Kind[..., Any], error: BaseException) -> WrongFlavour | None:
    """What to do about an error that a handler of this kind raised, where it awaits the other event loop; else None."""
    if isinstance(error, WrongFlavour):
        return error
    sign = _sign_among(_innermost(error), kind.runs)
    if sign is None:
        return None
    other = OTHER[kind.runs]
    return WrongFlavour(
        f"handler {kind.name} runs under {kind.runs} and awaits a library written for {other}: "
        f"add runs='{other}' to its kind, @app.kind(runs='{other}'), or to the app, App(runs='{other}'); it was {sign}"
    )


def wrong_flavour_of_middleware(kind: Kind[..., Any], error: BaseException) -> WrongFlavour | None:
    """What to do about an error that comes from a middleware around a handler of this kind and not from the handler, where the
    middleware awaits asyncio; else None."""
    if not _came_through(error, MIDDLEWARES):
        return None
    sign = _sign_among(_innermost(error, all_but=HANDLER), "trio")
    if sign is None:
        return None
    return WrongFlavour(
        f"a middleware around handler {kind.name} awaits a library written for asyncio: middlewares run under trio, whatever "
        f"the flavour of their handlers; write trio there (trio.sleep, trio.fail_after) or anyio, and move what needs asyncio "
        f"into the handler, or into an @app.on_start function; it was {sign}"
    )


def _sign_among(errors: Iterator[BaseException], runs: str) -> str | None:
    """The first error that code for the other event loop raises under this one."""
    signs = SIGNS.get(runs, ())
    for each in errors:
        if any(isinstance(each, type_) and text in str(each) for type_, text in signs):
            return f"{type(each).__name__}: {str(each)[:200]}"
    return None


def _came_through(error: BaseException, function: str) -> bool:
    """Whether it was raised inside of this function of a slot."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_code.co_name == function and frame.f_globals.get("__name__") == SLOT for frame in frames)


def _innermost(error: BaseException, all_but: str = "") -> Iterator[BaseException]:
    """The error, or those in its groups, and what each was raised from or after, once: some are raised from themselves.

    `all_but`: without those that were raised inside of this function of a slot, and without what is behind them.
    """
    left, seen = [error], set[int]()
    while left:
        each = left.pop()
        if id(each) in seen or (all_but and _came_through(each, all_but)):
            continue
        seen.add(id(each))
        if isinstance(each, BaseExceptionGroup):
            left += cast("BaseExceptionGroup[BaseException]", each).exceptions
            continue
        yield each
        before = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
        if before is not None:
            left.append(before)
