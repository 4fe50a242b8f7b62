"""A running job as its handler sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, overload
from uuid import UUID

import msgspec

from leasehold.concurrency.flavours import run_in_loop
from leasehold.errors import BadInput
from leasehold.jobs.endings import ContinueWith, WaitFor
from leasehold.jobs.job_host import NO_CONTEXT, AttemptSession, Block, CancelReason, Context, JobHost, Token
from leasehold.jobs.new_job import Blocker, NewJob
from leasehold.jobs.transactions import (
    Completion,
    CompletionValues,
    JobTransaction,
    SyncCompletion,
    SyncJobTransaction,
    need_thread_of_handler,
)
from leasehold.payloads.archive import Archive
from leasehold.records.payloads import PayloadRecord

if TYPE_CHECKING:
    from typing_extensions import TypeForm


R = TypeVar("R")
T = TypeVar("T")

LogLevel = Literal["debug", "info", "warning", "error", "critical"]
LOG_LEVELS = frozenset(get_args(LogLevel))


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a handler runs: the handler's first parameter.

    Attributes:
        id: unique among all jobs.
        kind: the name of its kind.
        queue: the queue that it was claimed from.
        attempt: 1 for the first attempt; each claim adds 1.
        max_attempts: how often the job may be tried.
        incarnation: which worker process holds the lease; a restarted worker has another.
        worker_id: the name of that worker.
        key: the subject of the job; None if it has none.
        priority: higher runs first.
        metadata: JSON object from the producer.
        created_at: when it was enqueued, by the clock of the database.
        run_at: the time before which it did not start, by the clock of the database.
        chain_id: the id of the first job of its chain.
        chain_position: how many jobs of the chain came before.
        traceparent: the trace that it belongs to, from its producer or from the job that it continues.
        context: the values that middlewares have put there.
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
        """The fencing token of this attempt: pass it to `leasehold.assert_lease` or `leasehold.complete_job` in your SQL."""
        return Token(self.id, self.attempt, str(self.incarnation))

    def continue_with(
        self, next: NewJob[R], *, blockers: Sequence[Blocker] = (), jobs: Sequence[NewJob[Any]] = ()
    ) -> ContinueWith[R]:
        """`return job.continue_with(ship.new(order))`: the job completes and `next` continues its chain, in one commit.

        Args:
            next: the job that continues the chain.
            blockers: chains that have to complete before `next` starts, by id or as new jobs made in the same commit; the
                handler of `next` gets their outputs, in this order, from `job.blockers()`.
            jobs: new jobs that begin chains of their own in the same commit; `next` does not wait for them.

        Raises:
            BadInput: this attempt has called it before. An attempt that calls it and returns something else fails.
        """
        made = ContinueWith(next, tuple(blockers), tuple(jobs))
        if self._host is not None:
            self._host.session().set_continuation(made)
        return made

    def start(self, *jobs: NewJob[Any]) -> None:
        """Enqueue these jobs in the commit that completes this job; if the attempt fails, they are not enqueued."""
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

        The list is empty if the job waited for no chains. None stands for a chain whose output is None, or that has no
        output, for example because it failed.

        Args:
            output_type: the type of each output: a Struct, a dataclass, `int`, `Page | None` …; without it the outputs are
                plain JSON values.

        Raises:
            BadInput: an output does not fit `output_type`; the message names its position and its chain.
            DatabaseUnavailable: the database did not answer.
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
        return run_in_loop(self._session().blockers, output_type)

    def prepare(self) -> Block[JobTransaction, SyncJobTransaction]:
        """`async with job.prepare() as tx:` a transaction before the job completes, any number of times, one at a time.

        It commits at the end of the block if this attempt still holds its lease. In a thread, use `with`.

        Raises:
            LeaseLost: at the end of the block, the attempt no longer held its lease; the transaction is rolled back.
            BadInput: the handler is atomic, or has called `complete` before.
        """
        return self._session().prepare()

    def complete(self) -> Block[Completion, SyncCompletion]:
        """`async with job.complete() as tx:` your SQL, the output, the next jobs and the audit row in one commit.

        The transaction commits when the handler returns. If the handler raises after the block, or the lease is lost, it is
        rolled back. The output is what the handler returns, unless the block set `tx.output` or called `tx.continue_with`.
        In a thread, use `with`.

        Raises:
            BadInput: the handler is atomic, or has called it before.
        """
        return self._session().complete()

    def completion(self, output: Any = None, continuation: ContinueWith[Any] | None = None) -> CompletionValues:
        """The parameters of `leasehold.complete_job`, to call it in a transaction of your own driver or ORM.

        Nothing is written here. Call `leasehold.complete_job` with them, commit, then return the same output or
        continuation from the handler: the worker sees that the job is completed already. Jobs given to `job.start` before
        are part of it.

        Args:
            output: the output of the job.
            continuation: from `job.continue_with(...)`, instead of an output.

        Raises:
            InvalidArgs: JSON cannot hold the output or the args of a new job.
            BadInput: both are given, the handler is atomic, or it has called `complete` before.
        """
        return self._session().completion(output, continuation)

    @property
    def transaction(self) -> Completion:
        """The transaction that an atomic handler (`mode="atomic"`) runs in. Raises BadInput in other handlers."""
        return self._session().transaction

    @property
    def transaction_sync(self) -> SyncCompletion:
        """As `transaction`, for handlers that run in a thread."""
        need_thread_of_handler()
        return SyncCompletion(self._session().transaction)

    async def save(
        self,
        content: Any,
        *,
        kind: str | None = None,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        media_type: str | None = None,
        codec: str = "gzip",
    ) -> PayloadRecord:
        """`saved = await job.save(pages)`: save a payload now, whatever becomes of the attempt; pass `saved.id` on.

        Args and errors are those of `client.payloads.save`, and kind and key those of the job unless given. Each attempt
        saves a payload of its own.

        Raises:
            LeaseLost: the attempt no longer holds its lease; nothing was saved.
        """
        return await self.payloads.save(
            content, kind=kind or self.kind, key=key or self.key, metadata=metadata, media_type=media_type, codec=codec
        )

    def save_sync(self, content: Any, **options: Any) -> PayloadRecord:
        """As `save`, for handlers that run in a thread."""
        need_thread_of_handler()
        return run_in_loop(partial(self.save, content, **options))

    @property
    def payloads(self) -> Archive:
        """Payloads that were saved before: `await job.payloads.load(payload_id)`."""
        return self._require_host().archive()

    def load_sync(self, payload_id: int, value_type: Any = Any) -> Any:
        """As `job.payloads.load`, for handlers that run in a thread."""
        need_thread_of_handler()
        return run_in_loop(self._load, payload_id, value_type)

    async def _load(self, payload_id: int, value_type: Any) -> Any:
        return await self.payloads.load(payload_id, value_type)

    def progress(self, fraction: float | None, message: str | None = None) -> None:
        """`job.progress(0.4, "parsing")`: show how far the job has come. Cheap; works in every kind of handler.

        It is written at most twice a second. The last call before the handler ends is always written.

        Args:
            fraction: 0 to 1; None if only the message matters.
            message: up to 1000 characters.
        """
        self._require_host().progress_sink.progress(self.id, self.attempt, fraction, message)

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Keep a line with the job; `leasehold jobs logs` shows it. Cheap; works in every kind of handler.

        A job keeps a thousand lines of 4000 characters. Lines are kept however the attempt ends. If the database is away for
        long, some lines are dropped, and the log says how many.

        Raises:
            BadInput: there is no such level.
        """
        if level not in LOG_LEVELS:
            raise BadInput(f"level must be one of {', '.join(sorted(LOG_LEVELS))}, not {level!r}")
        self._require_host().progress_sink.line(self.id, self.attempt, level, str(message))

    @property
    def state(self) -> Context:
        """What the handlers of this worker share: `job.state[Pool]`, which a function registered with `app.on_start` put there.

        Raises BadInput in a process of the handler's own, which shares nothing.
        """
        return self._require_host().state

    @property
    def cancel_reason(self) -> CancelReason | None:
        """Why this attempt is being cancelled; None if it is not. Read it when the cancellation arrives, or now and then."""
        return None if self._host is None else cast("CancelReason | None", self._host.cancel_reason)

    @property
    def cancel_message(self) -> str | None:
        """What was said with the cancel: the `reason` of `client.cancel`, `--reason`. It is there when the cancellation arrives.

        None unless `cancel_reason` is `cancelled`, and where the database did not say it within a second.
        """
        return None if self._host is None else self._host.cancel_note[0]

    @property
    def cancelled_by(self) -> str | None:
        """Who has cancelled the job over HTTP: the name of the token. None where nobody gave a name."""
        return None if self._host is None else self._host.cancel_note[1]

    def _session(self) -> AttemptSession:
        return self._require_host().session()

    def _require_host(self) -> JobHost:
        if self._host is None:
            raise BadInput("this job has no worker at hand: it was not made by one")
        return self._host
