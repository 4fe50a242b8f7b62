"""What the methods of a job call: the worker that runs it, as protocols. The worker implements them in `actors/running`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from leasehold.concurrency.from_thread import run_in_loop
from leasehold.jobs.handling.continuation import ContinueWith
from leasehold.jobs.handling.token import Token
from leasehold.jobs.handling.transactions import (
    Completion,
    CompletionValues,
    JobTransaction,
    SyncCompletion,
    SyncJobTransaction,
    need_thread_of_handler,
)
from leasehold.jobs.producing.new_job import NewJob
from leasehold.payloads.archive import Archive

A = TypeVar("A")
S = TypeVar("S")


class Block(Generic[A, S]):
    """A block with a transaction. Use `async with` under trio and asyncio, `with` in a thread."""

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
        return self._in_thread(run_in_loop(self._enter))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        run_in_loop(self._leave, error)


class HostedJob(Protocol):
    """The running job, as far as its host looks at it."""

    @property
    def id(self) -> int:
        """Of the job."""
        ...

    @property
    def attempt(self) -> int:
        """Which attempt of the job is running."""
        ...

    @property
    def incarnation(self) -> UUID:
        """Of the worker process that holds the lease."""
        ...

    @property
    def token(self) -> Token:
        """The fencing token of the attempt."""
        ...


class AttemptSession(Protocol):
    """What the worker keeps for one running attempt whose handler uses more than its args."""

    @property
    def transaction(self) -> Completion:
        """The transaction of an atomic handler. Raises BadInput in others."""
        ...

    def set_continuation(self, continuation: ContinueWith[Any]) -> None:
        """Note what the handler is going to return. Raises BadInput the second time."""
        ...

    def start(self, jobs: Sequence[NewJob[Any]]) -> None:
        """Begin chains when the attempt completes."""
        ...

    def prepare(self) -> Block[JobTransaction, SyncJobTransaction]:
        """A transaction that commits with its block, before the attempt ends."""
        ...

    def complete(self) -> Block[Completion, SyncCompletion]:
        """The transaction that ends the attempt."""
        ...

    async def blockers(self, output_type: Any = Any) -> list[Any]:
        """The outputs of the chains that the job waited for."""
        ...

    def completion(self, output: Any, continuation: ContinueWith[Any] | None) -> CompletionValues:
        """The values that complete the attempt over a connection of the handler's own."""
        ...


class ProgressSink(Protocol):
    """Takes the progress and the log lines of handlers, in any thread."""

    def progress(self, job_id: int, attempt: int, fraction: float | None, message: str | None = None) -> None:
        """Take how far an attempt has come."""
        ...

    def line(self, job_id: int, attempt: int, level: str, message: str) -> None:
        """Take a line for the log of a job."""
        ...


class JobHost(Protocol):
    """The worker, as far as the jobs that it runs know it."""

    @property
    def progress_sink(self) -> ProgressSink:
        """Where progress and log lines go."""
        ...

    def cancel_reason(self, job: HostedJob) -> str | None:
        """Why this attempt is being cancelled; None if it is not. In any thread."""
        ...

    def archive(self, job: HostedJob) -> Archive:
        """The payloads, as this attempt saves and reads them."""
        ...

    def session(self, job: HostedJob) -> AttemptSession:
        """The session of this running attempt. Raises LeaseLost when the attempt has ended."""
        ...
