"""Middlewares: around each attempt of a kind, and around each enqueue."""

from __future__ import annotations

from collections.abc import Awaitable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast

from leasehold.database.calls import Hooks
from leasehold.errors import LeaseholdError
from leasehold.events import ChainCreated, Event, JobBlocked, JobCreated
from leasehold.jobs.job import Job
from leasehold.jobs.job_host import Context
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import NewJob
from leasehold.observability.observers import Observers
from leasehold.records.jobs import EnqueuedJob


class Attempt:
    """An attempt that is about to run.

    Attributes:
        job: the job as its handler sees it.
        kind: the kind of the job, with its options.
        args: the arguments of the handler, by name.
        context: put values here for the handler and the middlewares further in; the handler reads them in `job.context`.
    """

    __slots__ = ("args", "context", "job", "kind")

    def __init__(self, job: Job, kind: Kind[..., Any], args: Mapping[str, Any], context: Context) -> None:
        self.job = job
        self.kind = kind
        self.args = args
        self.context = context

    def __repr__(self) -> str:
        return f"<Attempt {self.job.attempt} at job {self.job.id} of kind {self.kind.name!r}>"


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


async def enqueue_within(
    layers: Sequence[EnqueueMiddleware], enqueue: EnqueueNext, jobs: Sequence[NewJob]
) -> list[EnqueuedJob]:
    """Run `enqueue` inside the middlewares, the first outermost; returns what the outermost returns."""
    call = enqueue
    for layer in reversed(layers):
        call = _around(layer, call)
    return await call(jobs)


def _around(layer: EnqueueMiddleware, call_next: EnqueueNext) -> EnqueueNext:
    async def call(jobs: Sequence[NewJob], /) -> list[EnqueuedJob]:
        return checked_answer(layer, await layer(jobs, call_next), "await call_next(jobs)")

    return call


def checked_answer(layer: object, made: object, call: str) -> list[EnqueuedJob]:
    """What a middleware has returned. Raises LeaseholdError where that is no list; `call` says what it should have returned."""
    if not isinstance(made, list):
        name = getattr(layer, "__qualname__", repr(layer))
        raise LeaseholdError(
            f"enqueue middleware {name} returned {made!r:.100}; what it has passed on is enqueued. Have it return what "
            f"`{call}` returns"
        )
    return cast("list[EnqueuedJob]", made)


def announce_after_commit(observers: Observers, connection: Any, hooks: Hooks | None, events: Sequence[Event]) -> None:
    """Emit events now, or when the transaction commits.

    Nothing is emitted for a connection of the caller without hooks: it does not say when it commits.
    """
    if hooks is not None:
        hooks.after_commit(partial(_announce, observers, events))
    elif connection is None:
        _announce(observers, events)


def _announce(observers: Observers, events: Sequence[Event]) -> None:
    for event in events:
        observers.emit(event)


def events_of(observers: Observers, jobs: Sequence[NewJob], made: Sequence[EnqueuedJob]) -> list[Event]:
    """The events about these new jobs that have subscribers, in the order of the jobs."""
    subscribed = observers.subscribed
    return [
        event
        for job, answer in zip(jobs, made, strict=True)
        if answer.is_new
        for event in new_job_events(
            subscribed, answer.job_id, job.kind, job.queue, begins_chain=True, waits=bool(job.blockers)
        )
    ]


def new_job_events(
    subscribed: Container[type[Event]], job_id: int, kind: str, queue: str | None, *, begins_chain: bool, waits: bool
) -> Iterator[Event]:
    """The events about one new job that have subscribers."""
    queue = queue or "default"
    if begins_chain and ChainCreated in subscribed:
        yield ChainCreated(chain_id=job_id, kind=kind, queue=queue)
    if JobCreated in subscribed:
        yield JobCreated(job_id=job_id, kind=kind, queue=queue)
    if waits and JobBlocked in subscribed:
        yield JobBlocked(job_id=job_id, kind=kind, queue=queue)
