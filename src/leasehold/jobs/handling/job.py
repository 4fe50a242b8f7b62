"""A job as its producer and as its handler see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, overload
from uuid import UUID

import msgspec
import trio

from leasehold.errors import BadInput
from leasehold.jobs.handling.cancel_reason import CancelReason
from leasehold.jobs.handling.context import NO_CONTEXT, Context
from leasehold.jobs.handling.continuation import ContinueWith, WaitFor
from leasehold.jobs.handling.job_host import AttemptSession, Block, JobHost
from leasehold.jobs.handling.token import Token
from leasehold.jobs.handling.transactions import (
    Completion,
    CompletionValues,
    JobTransaction,
    SyncCompletion,
    SyncJobTransaction,
    need_thread_of_handler,
)
from leasehold.jobs.producing.new_job import Blocker, NewJob

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ["Blocker", "Job", "NewJob", "Token"]

R = TypeVar("R")
T = TypeVar("T")

LogLevel = Literal["debug", "info", "warning", "error", "critical"]
LOG_LEVELS = frozenset(get_args(LogLevel))


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a handler runs, as its first parameter.

    `token` is the fencing token: pass it to `leasehold.assert_lease` in your own SQL, or to `leasehold.complete_job`. What
    the methods need is made when a handler first calls one.

    Attributes:
        id: of the job.
        kind: of the job.
        queue: it was claimed from.
        attempt: counts up at each claim; 1 at first.
        max_attempts: as enqueued.
        incarnation: of the worker process that holds the lease.
        worker_id: of that worker.
        key: of the job.
        priority: of the job.
        metadata: of the job.
        created_at: by the database's clock.
        run_at: by the database's clock.
        chain_id: of the chain: the id of its first job.
        chain_position: how many jobs of the chain came before.
        traceparent: as enqueued, or that of the job it continues.
        context: what the middlewares of its kind put there.
    """

    id: int
    kind: str
    queue: str
    attempt: int
    max_attempts: int
    incarnation: UUID
    worker_id: str
    key: str | None
    priority: int
    metadata: dict[str, Any] | None
    created_at: datetime
    run_at: datetime
    chain_id: int = 0
    chain_position: int = 0
    traceparent: str | None = None
    context: Context = NO_CONTEXT
    _host: JobHost | None = None

    @property
    def token(self) -> Token:
        """The fencing token, for your own SQL."""
        return Token(self.id, self.attempt, str(self.incarnation))

    def continue_with(
        self, next: NewJob[R], *, blockers: Sequence[Blocker] = (), jobs: Sequence[NewJob[Any]] = ()
    ) -> ContinueWith[R]:
        """`return job.continue_with(ship.new(order))`: the job completes and `next` continues its chain, in one commit.

        Args:
            next: the job that continues the chain.
            blockers: chains that have to complete before it starts, by id or as new jobs made in the same commit; its
                handler has their outputs, in this order, from `job.blockers()`.
            jobs: begin chains of their own in the same commit, for which nobody waits.

        Raises:
            BadInput: said before in this attempt. A handler that says it and returns something else fails.
        """
        made = ContinueWith(next, tuple(blockers), tuple(jobs))
        if self._host is not None:
            self._host.session(self).set_continuation(made)
        return made

    def start(self, *jobs: NewJob[Any]) -> None:
        """Begin chains of their own in the commit that completes this job, and not if it fails."""
        self._session().start(jobs)

    def wait_for(self, blockers: Sequence[Blocker], delay: float | timedelta | None = None) -> WaitFor:
        """`raise job.wait_for([parse.new(page) for page in pages])`: run again when these chains have completed.

        The attempt does not count. See `WaitFor` for the arguments.
        """
        return WaitFor(blockers, delay)

    @overload
    async def blockers(self) -> list[Any]: ...
    @overload
    async def blockers(self, output_type: type[T]) -> list[T]: ...
    @overload
    async def blockers(self, output_type: TypeForm[T]) -> list[T]: ...
    @overload
    async def blockers(self, output_type: object) -> list[Any]: ...
    async def blockers(self, output_type: Any = Any) -> list[Any]:
        """`await job.blockers(Page)`: the outputs of the chains that the job waited for, in their order.

        Empty for a job that waited for none. None stands also for a chain that was let go of without an output.

        Args:
            output_type: what each of them becomes: a Struct, a dataclass, `int`, `Page | None` …; without it they are as
                JSON has them.

        Raises:
            BadInput: an output does not fit `output_type`; the message has its slot and its chain.
            DatabaseUnavailable: it did not answer.
        """
        return await self._session().blockers(output_type)

    @overload
    def blockers_sync(self) -> list[Any]: ...
    @overload
    def blockers_sync(self, output_type: type[T]) -> list[T]: ...
    @overload
    def blockers_sync(self, output_type: TypeForm[T]) -> list[T]: ...
    @overload
    def blockers_sync(self, output_type: object) -> list[Any]: ...
    def blockers_sync(self, output_type: Any = Any) -> list[Any]:
        """As `blockers`, for handlers that run in a thread."""
        need_thread_of_handler()
        return trio.from_thread.run(self._session().blockers, output_type)

    def prepare(self) -> Block[JobTransaction, SyncJobTransaction]:
        """`async with job.prepare() as tx:` a transaction of its own before or amid the work, any number of times.

        It commits with the block, if the job is still ours then. In a thread: `with`.

        Raises LeaseLost at the end of the block, and nothing of it is kept; BadInput in atomic handlers or after `complete`.
        """
        return self._session().prepare()

    def complete(self) -> Block[Completion, SyncCompletion]:
        """`async with job.complete() as tx:` your SQL, the output, the next jobs and the audit row in one commit.

        The commit comes when the handler returns: raising after the block undoes it all, and so does a lost lease. What
        the handler returns is the output, unless the block set `tx.output` or said `tx.continue_with`. In a thread: `with`.

        Raises BadInput: in atomic handlers, or when the attempt has completed before.
        """
        return self._session().complete()

    def completion(self, output: Any = None, continuation: ContinueWith[Any] | None = None) -> CompletionValues:
        """The values for `leasehold.complete_job` in a transaction of your own driver or ORM; nothing is written here.

        Commit, then return what you gave here, as in any other handler: the worker sees that the attempt has completed its
        job. Jobs said with `job.start` before are in it.

        Args:
            output: of the job.
            continuation: from `job.continue_with(...)`, instead of an output.

        Raises:
            InvalidArgs, BadInput: JSON cannot carry one of them, both are given, or there is a completion of ours already:
                in atomic handlers, and after `complete`.
        """
        return self._session().completion(output, continuation)

    @property
    def transaction(self) -> Completion:
        """The transaction that an atomic handler (`mode="atomic"`) runs in. Raises BadInput in others."""
        return self._session().transaction

    @property
    def transaction_sync(self) -> SyncCompletion:
        """As `transaction`, for handlers that run in a thread."""
        need_thread_of_handler()
        return SyncCompletion(self._session().transaction)

    def progress(self, fraction: float | None, message: str | None = None) -> None:
        """`job.progress(0.4, "parsing")`: how far the job has come, for whoever looks at it. Cheap, in any kind of handler.

        Written twice a second at the most; the last word before the handler ends is always written.

        Args:
            fraction: 0 to 1, or None where only the message matters.
            message: up to 1000 characters.
        """
        self._require_host().journal.progress(self.id, self.attempt, fraction, message)

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Keep a line with the job, for `leasehold jobs logs`. Cheap, in any kind of handler.

        A job keeps a thousand lines of 4000 characters. Lines outlive the attempt, however it ends; when the database is
        away for long, some are dropped, and the log says how many. Raises BadInput for an unknown level.
        """
        if level not in LOG_LEVELS:
            raise BadInput(f"level must be one of {', '.join(sorted(LOG_LEVELS))}, not {level!r}")
        self._require_host().journal.line(self.id, self.attempt, level, str(message))

    @property
    def cancel_reason(self) -> CancelReason | None:
        """Why this attempt is being cancelled, if it is: look at it where the cancellation arrives, or now and then."""
        return None if self._host is None else cast("CancelReason | None", self._host.cancel_reason(self))

    def _session(self) -> AttemptSession:
        return self._require_host().session(self)

    def _require_host(self) -> JobHost:
        if self._host is None:
            raise BadInput("this job has no worker at hand: it was not made by one")
        return self._host
