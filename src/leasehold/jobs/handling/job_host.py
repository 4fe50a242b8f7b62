"""What a job's methods ask of the worker that runs it. Made for a job when its handler first asks; most never do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import trio

from leasehold.jobs.handling.continuation import ContinueWith
from leasehold.jobs.handling.transactions import (
    Completion,
    CompletionValues,
    JobTransaction,
    SyncCompletion,
    SyncJobTransaction,
    need_thread_of_handler,
)
from leasehold.jobs.producing.new_job import NewJob

if TYPE_CHECKING:
    from leasehold.jobs.handling.job import Job

A = TypeVar("A")
S = TypeVar("S")


class Block(Generic[A, S]):
    """A block with a transaction: `async with` under trio and asyncio, `with` in a thread."""

    def __init__(
        self,
        enter: Callable[[], Awaitable[A]],
        leave: Callable[[BaseException | None], Awaitable[None]],
        in_thread: Callable[[A], S],
    ) -> None:
        self._enter = enter
        self._leave = leave
        self._in_thread = in_thread

    async def __aenter__(self) -> A:
        return await self._enter()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave(error)

    def __enter__(self) -> S:
        need_thread_of_handler()
        return self._in_thread(trio.from_thread.run(self._enter))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        trio.from_thread.run(self._leave, error)


class Work(Protocol):
    """One running attempt, with more than its args and its output."""

    @property
    def transaction(self) -> Completion:
        """Of an atomic handler."""
        ...

    def say(self, continuation: ContinueWith[Any]) -> None:
        """The handler is going to return this."""
        ...

    def start(self, jobs: Sequence[NewJob[Any]]) -> None:
        """Begin chains when the attempt completes."""
        ...

    def prepare(self) -> Block[JobTransaction, SyncJobTransaction]:
        """A transaction before the work."""
        ...

    def complete(self) -> Block[Completion, SyncCompletion]:
        """The transaction that ends the attempt."""
        ...

    async def blockers(self, output_type: Any = Any) -> list[Any]:
        """Outputs of the chains that the job waited for."""
        ...

    def completion(self, output: Any, continuation: ContinueWith[Any] | None) -> CompletionValues:
        """What completes the attempt over a connection of the handler's own."""
        ...


class Journal(Protocol):
    """Takes down what handlers say of themselves, in any thread."""

    def progress(self, job_id: int, attempt: int, fraction: float | None, message: str | None = None) -> None:
        """How far an attempt has come."""
        ...

    def line(self, job_id: int, attempt: int, level: str, message: str) -> None:
        """A line for the log of a job."""
        ...


class Desk(Protocol):
    """A worker, as far as its handlers know it."""

    @property
    def journal(self) -> Journal:
        """Of the worker."""
        ...

    def cancel_reason(self, job: Job) -> str | None:
        """Why this attempt is being cancelled, if it is. In any thread."""
        ...

    def work(self, job: Job) -> Work:
        """Of this running attempt. Raises LeaseLost when it has ended."""
        ...
