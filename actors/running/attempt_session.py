"""What one attempt keeps for a handler that uses the methods of its job: continuations, new chains, transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any, TypeVar, cast

import trio

from leasehold.actors.attempts.held_job import SHUTDOWN, HeldJob
from leasehold.actors.attempts.outcome import Committed, Completed, Continued, Outcome, encode_output, ended, is_outage
from leasehold.actors.attempts.progress import ProgressBuffer, ProgressReport, report_progress
from leasehold.actors.running.large_values import LargeValues, fence_of
from leasehold.concurrency.flavours import running_flavour
from leasehold.database import Database, Transaction
from leasehold.database.border import run_asyncio
from leasehold.database.calls import decode_json
from leasehold.errors import BadInput, InvalidArgs, LeaseLost
from leasehold.jobs.catalogue import typed_blocker
from leasehold.jobs.encoding import Check, encode_continuation
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.job_host import Block, Token
from leasehold.jobs.new_job import NewJob
from leasehold.jobs.transactions import Completion, CompletionValues, JobTransaction, SyncCompletion, SyncJobTransaction

T = TypeVar("T", bound=JobTransaction)
R = TypeVar("R")


class WorkerAttemptSession:
    """What stands behind the methods of a job during one attempt. At most one transaction is open at a time.

    Args:
        held: the job.
        connect: returns the handlers' pool.
        check: checks a new job against its kind.
        buffer: holds the progress of running jobs.
        large: puts a large output away.

    Attributes:
        was_cut: whether the last transaction of the handler's lost its connection.
    """

    def __init__(
        self,
        held: HeldJob,
        connect: Callable[[], Database],
        check: Check,
        buffer: ProgressBuffer,
        large: LargeValues,
    ) -> None:
        self._held = held
        self._connect = connect
        self._check = check
        self._buffer = buffer
        self._large = large
        self._open: JobTransaction | None = None
        self._inner: Transaction | None = None
        self._completion: Completion | None = None
        self._flavour = ""
        self._continuation: ContinueWith[Any] | None = None
        self._started: list[NewJob[Any]] = []
        self._new_ids: list[int] = []
        self.was_cut = False

    @property
    def _token(self) -> Token:
        """The present one: the worker may have taken a new incarnation since the handler began, and kept the job."""
        return Token(*fence_of(self._held))

    def set_continuation(self, continuation: ContinueWith[Any]) -> None:
        """Note that the handler is going to return this. Raises BadInput at the second call."""
        if self._continuation is not None:
            raise BadInput("continue_with was said already; a job continues its chain once")
        self._continuation = continuation

    def start(self, jobs: Sequence[NewJob[Any]]) -> None:
        """Enqueue these jobs when the attempt completes; each begins a chain."""
        self._started += jobs

    async def blockers(self, output_type: Any = Any) -> list[Any]:
        """The outputs of the chains that the job waited for, in order. Raises BadInput where a type does not fit."""
        rows = await (self._inner or self._connect()).call("get_job_blockers", self._held.id)
        found = [None if row["output"] is None else decode_json(row["output"]) for row in rows]
        outputs = [await self._large.load(each, self._held) for each in found]
        if output_type is Any:
            return outputs
        return [
            typed_blocker(output_type, each, row["slot"], row["chain_id"])
            for each, row in zip(outputs, rows, strict=True)
        ]

    def completion(self, output: Any, continuation: ContinueWith[Any] | None) -> CompletionValues:
        """The arguments for `leasehold.complete_job`, which the handler calls over its own connection.

        Raises BadInput for contradictions, and InvalidArgs where the output cannot be kept.
        """
        if self._completion is not None:
            raise BadInput("this attempt has a completion of ours already, which a second one would wait for in vain")
        if output is not None and continuation is not None:
            raise BadInput("a job that continues its chain has no output; give one or the other")
        encoded = None if output is None else encode_output(output, self._held.kind)
        if isinstance(encoded, dict):
            raise InvalidArgs(encoded["message"])
        if continuation is None and not self._started:
            return CompletionValues(*self._token, encoded, None)
        further = encode_continuation(continuation, self._started, self._check)
        return CompletionValues(*self._token, encoded, further)

    def prepare(self) -> Block[JobTransaction, SyncJobTransaction]:
        """A transaction that commits when its block ends."""
        return Block(partial(self._begin, JobTransaction), self._end_preparation, SyncJobTransaction)

    def complete(self) -> Block[Completion, SyncCompletion]:
        """The transaction that completes the job; `close` commits it."""
        return Block(self._begin_completion, self._end_completion, SyncCompletion)

    @property
    def transaction(self) -> Completion:
        """The transaction of an atomic handler. Raises BadInput for other handlers."""
        if not self._held.kind.is_atomic or self._completion is None:
            raise BadInput("only a handler with mode='atomic' runs in a transaction; use job.complete()")
        return self._completion

    async def begin_atomic(self) -> None:
        """Open the transaction that the whole handler runs in. Until it ends, nobody else can take the job.

        Raises LeaseLost, DatabaseUnavailable.
        """
        self._completion = await self._begin(Completion)
        self._flavour = "asyncio" if self._held.kind.runs == "asyncio" else "trio"
        await self._assert_lease(self._completion)

    async def _begin(self, make: Callable[[Transaction], T]) -> T:
        if self._completion is not None:
            raise BadInput(
                "this attempt has its completion already; nothing comes after it, and atomic handlers have one"
            )
        if self._inner is not None:
            raise BadInput("a transaction of this job is open already; one at a time")
        inner = await self._noticing(self._connect().begin())
        self._inner, self._flavour, self.was_cut = inner, running_flavour(), False
        made = make(inner)
        self._open = made
        return made

    async def _begin_completion(self) -> Completion:
        completion = await self._begin(Completion)
        self._completion = completion
        return completion

    async def _end_preparation(self, error: BaseException | None) -> None:
        transaction = self._open
        if error is not None or transaction is None:
            await self._roll_back("it was rolled back")
            return
        try:
            await self._assert_lease(transaction)
        except BaseException:
            await self._roll_back("it was rolled back")
            raise
        await self._commit(transaction)

    async def _end_completion(self, error: BaseException | None) -> None:
        if error is not None:
            await self._roll_back("it was rolled back")
            self._completion = None
        elif self._open is not None:
            self._open.over("its block has ended, and it commits when the handler returns")

    async def _assert_lease(self, transaction: JobTransaction) -> None:
        await transaction.call_last("assert_lease", *self._token)

    async def _commit(self, transaction: JobTransaction) -> None:
        inner, self._inner, self._open = self._inner, None, None
        transaction.over("it was committed")
        if inner is not None:
            await self._noticing(inner.commit())
        if self._flavour == "asyncio" and running_flavour() == "trio":
            await run_asyncio(transaction.hooks.flush)  # what waited for the commit is of the flavour of who began
        else:
            await transaction.hooks.flush()

    async def _noticing(self, work: Awaitable[R]) -> R:
        """Await it, and remember an outage of the database that it met: the handler may tell it in words of its own."""
        try:
            return await work
        except BaseException as error:
            self.was_cut = self.was_cut or is_outage(error)
            raise

    async def _roll_back(self, reason: str) -> None:
        inner, self._inner = self._inner, None
        transaction, self._open = self._open, None
        if transaction is not None:
            transaction.over(reason)
            transaction.hooks.discard()
        if inner is not None:
            await inner.roll_back()
            self.was_cut = inner.was_cut

    async def close(self, returned: Any) -> Outcome:
        """Commit the completion, if there is one, and return the outcome of a handler that has returned `returned`.

        Raises BadInput for contradictions, LeaseLost, and what the commit raises. Then nothing was committed, except
        that DatabaseUnavailable leaves it unknown.
        """
        completion = self._completion
        end = returned if completion is None else completion.settled_with(returned)
        if self._continuation is not None and end is not self._continuation:
            raise BadInput(f"continue_with was said and not returned; the handler returned {returned!r:.200}")
        outcome = ended(self._held, end, self._started, self._check, self._large.most)
        if completion is None and self._large.is_large(outcome):
            return await self._large.put_away(outcome)
        if completion is None or not isinstance(outcome, (Completed, Continued)):
            return outcome
        if self._held.lost not in (None, SHUTDOWN):
            raise LeaseLost(f"the lease was lost before the commit: {self._held.lost}")
        self._held.settling = True
        with trio.CancelScope(shield=True):
            reports = await self._report()
            await self._complete(completion, outcome)
            if reports:
                self._buffer.written(reports)
        if isinstance(outcome, Continued):
            return Committed(self._held, outcome.has_next, outcome.continuation, self._new_ids)
        return Committed(self._held, has_next=False)

    async def _report(self) -> Sequence[ProgressReport]:
        """Write the progress that waits, in the open transaction."""
        if self._inner is None or not self._buffer.has_progress:
            return ()
        async with self._buffer.write_lock:
            if reports := self._buffer.latest([self._held.id]):
                await report_progress(self._inner, self._held.incarnation, reports)
        return reports

    async def _complete(self, completion: Completion, outcome: Completed | Continued) -> None:
        continuation = outcome.continuation if isinstance(outcome, Continued) else None
        started = self._held.started
        ran_for = None if started is None else monotonic() - started
        if self._inner is not None:
            if self._large.is_large(outcome):
                outcome, deposit = await self._large.deposit(outcome, self._inner)
                await self._large.record(deposit, self._held, self._inner)
            made = await self._inner.call_last("complete_job", *self._token, outcome.output, continuation, ran_for)
            self._new_ids = cast("list[int]", made or [])
        await self._commit(completion)

    async def undo(self) -> None:
        """Roll back what is still open. Cannot be cancelled."""
        if self._inner is not None:
            with trio.CancelScope(shield=True):
                await self._roll_back("the handler has ended without it")
