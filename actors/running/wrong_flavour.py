"""Handlers that were written for another flavour than the one they run in: how they show, and what to do about it."""

from __future__ import annotations

import asyncio
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
    signs = SIGNS.get(kind.runs, ())
    for each in _innermost(error):
        if any(isinstance(each, type_) and text in str(each) for type_, text in signs):
            other = OTHER[kind.runs]
            return WrongFlavour(
                f"handler {kind.name} runs under {kind.runs} and awaits a library written for {other}: "
                f"add runs='{other}' to its kind, @app.kind(runs='{other}'), or to the app, App(runs='{other}'); "
                f"it was {type(each).__name__}: {str(each)[:200]}"
            )
    return None


def _innermost(error: BaseException) -> Iterator[BaseException]:
    """The error, or those in its groups, and what each was raised from or after, once: some are raised from themselves."""
    left, seen = [error], set[int]()
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, BaseExceptionGroup):
            left += cast("BaseExceptionGroup[BaseException]", each).exceptions
            continue
        yield each
        before = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
        if before is not None:
            left.append(before)
