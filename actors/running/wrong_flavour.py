"""An error that comes from awaiting asyncio under trio, or trio under asyncio, told as what to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def wrong_flavour(kind: Kind[..., Any], error: BaseException) -> WrongFlavour | None:
    """What to do about an error that a handler of this kind raised, where it awaits the other event loop; else None."""
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
    """The error, or those in its groups, and what each was raised from, once: some are raised from themselves."""
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
        if each.__cause__ is not None:
            left.append(each.__cause__)
