"""The types of the functions that go around attempts and around enqueues."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from leasehold.jobs.kinds.attempt import Attempt
from leasehold.jobs.producing.new_job import NewJob
from leasehold.records.jobs import EnqueuedJob


class CallNext(Protocol):
    """Runs the next middleware, or the handler, and returns what that returned."""

    def __call__(self) -> Awaitable[Any]:
        """Go on."""
        ...


class Middleware(Protocol):
    """A function around every attempt. It runs on the worker's trio loop, however the handler runs.

    What it returns is the output; if it raises, the attempt ends as if the handler had raised. Its time counts towards the
    timeout. It is cancelled as the handler is, and must let `trio.Cancelled` through.

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
    """Runs the next middleware, or enqueues the jobs."""

    def __call__(self, jobs: Sequence[NewJob], /) -> Awaitable[list[EnqueuedJob]]:
        """Enqueue these jobs; the answers are in their order."""
        ...


class EnqueueMiddleware(Protocol):
    """A function around every enqueue of a client, under trio or asyncio as the client. It may change the jobs, but not how
    many they are."""

    def __call__(self, jobs: Sequence[NewJob], call_next: EnqueueNext, /) -> Awaitable[list[EnqueuedJob]]:
        """Do something around `await call_next(jobs)`."""
        ...
