"""The transactions that a job gives its handler, under trio and asyncio and in threads."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET

from leasehold.concurrency.flavours import check_cancelled, run_in_loop, running_flavour
from leasehold.database import OpenTransaction
from leasehold.drivers import Style
from leasehold.errors import BadInput
from leasehold.jobs.endings import ContinueWith, is_in_process
from leasehold.jobs.new_job import Blocker, NewJob

if TYPE_CHECKING:
    from leasehold.database import Row


def need_thread_of_handler() -> None:
    """Refuse a call without `await` outside the thread of a handler.

    Raises BadInput under an event loop, in a process of handlers, and in threads that the handler started itself.
    """
    try:
        check_cancelled()
    except RuntimeError:
        if is_in_process():
            raise BadInput(
                "a handler in a process of its own cannot use the worker's database: leave out runs='process', or open a client"
                " in the handler"
            ) from None
        raise BadInput(
            "this is for the thread that a handler without `async` runs in; in one with it say `async with job.complete() as"
            " tx`, `await job.transaction.execute(…)` and `await job.blockers()`"
        ) from None


def need_thread_of_worker(thread: int) -> None:
    """Refuse a call with `await` outside the worker's event loop, whose thread is `thread`. Raises BadInput."""
    if get_ident() != thread:
        raise BadInput(
            "this is for the event loop of the worker, and no other loop can run it; in a handler without `async` say"
            " `with job.complete() as tx`, `job.transaction_sync` and `job.blockers_sync()`"
        )


class CompletionValues(NamedTuple):
    """The parameters of `leasehold.complete_job`, in their order: text and numbers, which every driver takes.

    Attributes:
        job_id, attempt, incarnation: the fencing token.
        output: JSON as text; None for null.
        continuation: the new jobs, JSON as text; None if there are none.
    """

    job_id: int
    attempt: int
    incarnation: str
    output: str | None
    continuation: str | None


class JobTransaction(OpenTransaction):
    """A transaction that commits only if the attempt still holds its lease. It works under trio and under asyncio.

    To enqueue in it, use `client.enqueue(..., connection=transaction)`.
    """

    def __init__(self, inner: OpenTransaction) -> None:
        super().__init__()
        self._inner = inner
        self._over: str | None = None
        self._thread = get_ident()

    @property
    def style(self) -> Style | None:
        """That of the transaction inside."""
        return self._inner.style

    @property
    def connection(self) -> Any:
        """The asyncpg connection itself, in handlers that run under asyncio. Raises BadInput in other handlers."""
        connection = getattr(self._inner, "connection", None)
        with suppress(RuntimeError):
            if connection is not None and running_flavour() == "asyncio":
                return connection
        raise BadInput("only handlers with runs='asyncio' can use the asyncpg connection; use fetch and execute")

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement and return its rows."""
        return await self._open().fetch(sql, *args, timeout=timeout)

    async def execute(self, sql: str, *args: object, timeout: float | None = None) -> None:
        """Run one statement with values, or a script of any number of them without."""
        await self._open().execute(sql, *args, timeout=timeout)

    async def _undo_to(self, savepoint: str) -> None:
        """As the transaction inside."""
        await self._open()._undo_to(savepoint)

    def over(self, reason: str) -> None:
        """Refuse all further statements, with this reason."""
        self._over = reason

    def _open(self) -> OpenTransaction:
        need_thread_of_worker(self._thread)
        if self._over is not None:
            raise BadInput(f"this transaction is over: {self._over}")
        return self._inner


class Completion(JobTransaction):
    """The transaction that completes the job: your SQL, the output, the next jobs and the audit row in one commit.

    It commits when the handler returns. It is rolled back when the handler raises, even after the block.
    """

    def __init__(self, inner: OpenTransaction) -> None:
        super().__init__(inner)
        self._output: Any = UNSET  # None is an output
        self._continuation: ContinueWith[Any] | None = None

    @property
    def output(self) -> Any:
        """The output of the job. If it is not set, the output is what the handler returns.

        Setting it raises BadInput after `continue_with`.
        """
        return None if self._output is UNSET else self._output

    @output.setter
    def output(self, value: Any) -> None:
        if self._continuation is not None:
            raise BadInput("a job that continues its chain has no output; give one or the other")
        self._output = value

    def continue_with(
        self, next: NewJob[Any], *, blockers: Sequence[Blocker] = (), jobs: Sequence[NewJob[Any]] = ()
    ) -> None:
        """Continue the chain with `next`; the arguments are those of `ContinueWith`.

        Raises:
            BadInput: it was called before, or an output is set.
        """
        if self._continuation is not None:
            raise BadInput("continue_with was said already")
        if self._output is not UNSET:
            raise BadInput("a job with an output does not continue its chain; give one or the other")
        self._continuation = ContinueWith(next, tuple(blockers), tuple(jobs))

    def settled_with(self, returned: Any) -> Any:
        """How the job ends: as set in the block, or as the handler returned. Raises BadInput if the two differ."""
        given = self._continuation if self._continuation is not None else self._output
        if given is UNSET:
            return returned
        if returned is None or returned is given or returned == given:
            return given
        raise BadInput(f"the handler returned {returned!r:.200} after it had said {given!r:.200} in its completion")


class SyncJobTransaction:
    """A `JobTransaction` for handlers that run in a thread."""

    def __init__(self, inner: JobTransaction) -> None:
        self._inner = inner

    def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement and return its rows."""
        return run_in_loop(partial(self._inner.fetch, sql, *args, timeout=timeout))

    def execute(self, sql: str, *args: object, timeout: float | None = None) -> None:
        """Run one statement with values, or a script of any number of them without."""
        run_in_loop(partial(self._inner.execute, sql, *args, timeout=timeout))

    def call(self, function: str, *args: object, **named: object) -> list[Row]:
        """Call `leasehold.<function>` and return its rows."""
        return run_in_loop(partial(self._inner.call, function, *args, **named))

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """A part of the transaction; it alone is rolled back when the block raises."""
        savepoint = self._inner.savepoint()
        run_in_loop(savepoint.__aenter__)
        try:
            yield
        except BaseException as error:
            run_in_loop(savepoint.__aexit__, type(error), error, error.__traceback__)
            raise
        run_in_loop(savepoint.__aexit__, None, None, None)


class SyncCompletion(SyncJobTransaction):
    """A `Completion` for handlers that run in a thread."""

    def __init__(self, inner: Completion) -> None:
        super().__init__(inner)
        self._completion = inner

    @property
    def output(self) -> Any:
        """As `Completion.output`."""
        return self._completion.output

    @output.setter
    def output(self, value: Any) -> None:
        self._completion.output = value

    def continue_with(
        self, next: NewJob[Any], *, blockers: Sequence[Blocker] = (), jobs: Sequence[NewJob[Any]] = ()
    ) -> None:
        """As `Completion.continue_with`."""
        self._completion.continue_with(next, blockers=blockers, jobs=jobs)
