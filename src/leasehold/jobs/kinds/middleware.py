"""What goes around attempts and around enqueueing, as types."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from leasehold.jobs.kinds.attempt import Attempt
from leasehold.jobs.producing.new_job import NewJob
from leasehold.records.jobs import EnqueuedJob


class CallNext(Protocol):
    """Runs the next middleware, or the handler; returns what it returned."""

    def __call__(self) -> Awaitable[Any]:
        """Go on."""
        ...


class Middleware(Protocol):
    """Goes around every attempt, on the worker's trio loop whatever the handler's flavour.

    What it returns is the output, what it raises is the attempt's end; the timeout covers it. It is cancelled like the
    handler is, and must let `trio.Cancelled` through.

    Example:
        async def with_session(attempt: Attempt, call_next: CallNext) -> Any:
            async with open_session() as session:
                attempt.context[Session] = session
                return await call_next()
    """

    def __call__(self, attempt: Attempt, call_next: CallNext, /) -> Awaitable[Any]:
        """Do something around `await call_next()`."""
        ...


class EnqueueNext(Protocol):
    """Enqueues, or runs the next middleware."""

    def __call__(self, jobs: Sequence[NewJob], /) -> Awaitable[list[EnqueuedJob]]:
        """Enqueue these; answers in their order."""
        ...


class EnqueueMiddleware(Protocol):
    """Goes around every enqueue of a client, under trio or asyncio, whichever the client runs under. It may change the jobs,
    but not their number."""

    def __call__(self, jobs: Sequence[NewJob], call_next: EnqueueNext, /) -> Awaitable[list[EnqueuedJob]]:
        """Do something around `await call_next(jobs)`."""
        ...
