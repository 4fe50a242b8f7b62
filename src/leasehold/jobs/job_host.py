"""What stands behind a running job: its fencing token, why it is cancelled, its context, and who makes its transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from leasehold.concurrency.flavours import run_in_loop
from leasehold.errors import BadInput
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import NewJob
from leasehold.jobs.transactions import (
    Completion,
    CompletionValues,
    JobTransaction,
    SyncCompletion,
    SyncJobTransaction,
    need_thread_of_handler,
)
from leasehold.payloads.archive import Archive

CancelReason: TypeAlias = Literal[
    "cancelled",
    "timeout",
    "deadline",
    "taken_by_another_worker",
    "already_completed",
    "not_found",
    "error",
    "shutdown",
]
"""What `job.cancel_reason` says while a handler is being cancelled.

- `cancelled`: the job or its chain was cancelled.
- `timeout`: the attempt took too long; it fails and is retried.
- `deadline`: the deadline of the job has passed; the job fails for good.
- `taken_by_another_worker`: the lease ran out, and another worker claimed the job.
- `already_completed`: the job was completed from outside.
- `not_found`: the job was deleted.
- `error`: the lease could not be renewed in time and may have run out.
- `shutdown`: the worker ends; the job goes back to its queue and the attempt does not count.
"""


class Token(NamedTuple):
    """The fencing token: the first parameters of `leasehold.assert_lease` and `leasehold.complete_job`, in their order.

    Attributes:
        job_id, attempt: of the attempt.
        incarnation: of the worker process that holds the lease, as text, which every driver takes.
    """

    job_id: int
    attempt: int
    incarnation: str


T = TypeVar("T")


class MissingContext(LookupError):
    """Nobody has put a value of this type into the context or the state."""


class Context:
    """Values by type: a middleware says `context[DbSession] = session`, and the handler reads `job.context[DbSession]`.

    Type checkers know that this is a DbSession. The context of a job lives as long as the attempt, the state of a worker as long
    as the worker. Handlers that run in a process of their own have an empty context.
    """

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[type[Any], Any] = {}

    def __setitem__(self, type_: type[T], value: T) -> None:
        """Put a value. Raises BadInput if it is not an instance of the type."""
        if not isinstance(value, type_):
            raise BadInput(f"context[{type_.__qualname__}] takes a {type_.__qualname__}, not {value!r}")
        self._values[type_] = value

    def __getitem__(self, type_: type[T]) -> T:
        """The value of this type. Raises MissingContext if there is none."""
        try:
            return cast("T", self._values[type_])
        except KeyError:
            there = ", ".join(sorted(each.__qualname__ for each in self._values)) or "nothing"
            raise MissingContext(f"nobody has put a {type_.__qualname__} there; there is: {there}") from None

    def get(self, type_: type[T]) -> T | None:
        """The value of this type; None if there is none."""
        return cast("T | None", self._values.get(type_))

    def __contains__(self, type_: type[Any]) -> bool:
        return type_ in self._values

    def __repr__(self) -> str:
        return f"<Context of {', '.join(each.__qualname__ for each in self._values) or 'nothing'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_empty, ())


class _NoContext(Context):
    """The context that all jobs without middlewares share, so nothing can be put into it."""

    __slots__ = ()

    def __setitem__(self, type_: type[T], value: T) -> None:
        raise BadInput("only a middleware puts values into the context; this kind has none")


NO_CONTEXT: Context = _NoContext()


def _empty() -> Context:
    return NO_CONTEXT


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
    """The worker, as far as the attempt that it runs knows it."""

    @property
    def progress_sink(self) -> ProgressSink:
        """Where progress and log lines go."""
        ...

    @property
    def state(self) -> Context:
        """What the `on_start` functions of the app have put there."""
        ...

    @property
    def cancel_reason(self) -> str | None:
        """Why this attempt is being cancelled; None if it is not. In any thread."""
        ...

    @property
    def cancel_note(self) -> tuple[str | None, str | None]:
        """What was said with the cancel of this attempt, and who said it. In any thread."""
        ...

    def archive(self) -> Archive:
        """The payloads, as this attempt saves and reads them."""
        ...

    def session(self) -> AttemptSession:
        """The session of this running attempt. Raises LeaseLost when the attempt has ended."""
        ...
