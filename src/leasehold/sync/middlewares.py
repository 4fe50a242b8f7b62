"""Enqueue middlewares that are called, not awaited."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from typing import Any, Protocol, TypeVar, cast

from leasehold import validation
from leasehold.errors import BadInput
from leasehold.jobs.middleware import checked_answer
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import EnqueuedJob

M = TypeVar("M")


class SyncEnqueueNext(Protocol):
    """Runs the next middleware, or enqueues the jobs."""

    def __call__(self, jobs: Sequence[NewJob], /) -> list[EnqueuedJob]:
        """Enqueue these jobs; the answers are in their order."""
        ...


class SyncEnqueueMiddleware(Protocol):
    """A function around every enqueue of a synchronous client. It may change the jobs, but not how many they are."""

    def __call__(self, jobs: Sequence[NewJob], call_next: SyncEnqueueNext, /) -> list[EnqueuedJob]:
        """Do something around `call_next(jobs)`."""
        ...


def enqueue_in_turn(layers: Sequence[Any], enqueue: SyncEnqueueNext, jobs: Sequence[NewJob]) -> list[EnqueuedJob]:
    """Run `enqueue` inside the middlewares, the first outermost. Raises BadInput, before anything is written, for an async one."""
    call = enqueue
    for layer in reversed([refused_if_async(each) for each in layers]):
        call = partial(_call, layer, call)
    return call(jobs)


def refused_if_async(layer: M) -> M:
    """The middleware. Raises BadInput for one that has to be awaited, or that is no function."""
    validation.check_middleware(cast("Any", layer))
    if iscoroutinefunction(layer) or iscoroutinefunction(getattr(layer, "__call__", None)):  # noqa: B004  its own, if async
        raise _refusal(layer)
    return layer


def _call(layer: Any, call_next: SyncEnqueueNext, jobs: Sequence[NewJob], /) -> list[EnqueuedJob]:
    made = layer(jobs, call_next)
    if isawaitable(made):
        if iscoroutine(made):
            made.close()
        raise _refusal(layer)
    return checked_answer(layer, made, "call_next(jobs)")


def _refusal(layer: Any) -> BadInput:
    name = getattr(layer, "__qualname__", repr(layer))
    return BadInput(
        f"enqueue middleware {name} is async, and a synchronous client awaits nothing; write it as a `def` that returns"
        " `call_next(jobs)`, which serves both clients"
    )
