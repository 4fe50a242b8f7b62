"""A place for one running handler. The job may fail; the slot lives.

The five steps of a job: its args are read, it gets a cancel scope, its handler is called, what that returned or raised becomes an
outcome, and the outcome is settled. A slot stands between two lines: the backlog, and the outcomes that wait for the settler.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic
from typing import Any

import msgspec
import trio

from leasehold.actors.attempts.announcer import SILENT, Announcer
from leasehold.actors.attempts.held_job import SHUTDOWN, UNRENEWED, Backlog, HeldJob, Holdings
from leasehold.actors.attempts.outcome import (
    CONTROLS,
    Failed,
    Outcome,
    Released,
    cancelled,
    completed,
    describe,
    missed,
    raised,
    single_cause,
    unless_interrupted,
    without_cancellation,
)
from leasehold.actors.attempts.run_clock import TOO_LATE
from leasehold.actors.identity import WorkerIdentity, WorkerMode
from leasehold.actors.processes.apart import invoke_apart
from leasehold.actors.processes.pool import ProcessPool
from leasehold.actors.running.job_host import HostedAttempt, WorkerJobHost
from leasehold.actors.running.settler import Outcomes
from leasehold.actors.running.wrong_flavour import call_in_thread, wrong_flavour, wrong_flavour_of_middleware
from leasehold.database.border import run_asyncio
from leasehold.errors import BadInput, InvalidArgs
from leasehold.events import JobStarted
from leasehold.jobs.endings import ContinueWith, WaitFor
from leasehold.jobs.job import Job
from leasehold.jobs.job_host import Context
from leasehold.jobs.kind import Kind
from leasehold.jobs.middleware import Attempt, CallNext, Middleware
from leasehold.observability.context import running_job
from leasehold.payloads.claim_checks import START

log = logging.getLogger(__name__)

JOBS_PER_CHECKPOINT = 10
ENDINGS = (ContinueWith, WaitFor)


class Roster:
    """The slots write it, and every other part may read it.

    Attributes:
        slots: the present slots, and the task of each.
        begun: how many jobs they have taken since the start.
    """

    def __init__(self) -> None:
        self.slots: dict[Slot, trio.lowlevel.Task] = {}
        self.begun = 0

    def running(self) -> Iterator[HeldJob]:
        """The jobs whose handlers run. In any thread."""
        return (held for slot in list(self.slots) if (held := slot.held) is not None)

    @property
    def strays(self) -> int:
        """How many handlers still run although the worker has lost their jobs: threads cannot be stopped."""
        return sum(held.lost is not None for held in self.running())

    @property
    def is_busy(self) -> bool:
        """Whether any handler runs."""
        return any(True for _ in self.running())


def _no_middlewares(_kind: Kind[..., Any]) -> tuple[Middleware, ...]:
    return ()


class SlotContext(msgspec.Struct, frozen=True, eq=False):
    """What all slots of a worker share.

    Attributes:
        identity: of the worker.
        threads: limits the threads of sync handlers.
        backlog: the jobs to run.
        outcomes: takes what came of them.
        middlewares: the chain of a kind, outermost first.
        announcer: of the worker.
        processes: for handlers that run in one.
        host: makes the transactions of handlers.
        holdings: the jobs that the worker holds.
        mode: of the worker.
        roster: where the slots stand.
    """

    identity: WorkerIdentity
    threads: trio.CapacityLimiter
    backlog: Backlog
    outcomes: Outcomes
    middlewares: Callable[[Kind[..., Any]], tuple[Middleware, ...]] = _no_middlewares
    announcer: Announcer = SILENT
    processes: ProcessPool | None = None
    host: WorkerJobHost = msgspec.field(default_factory=WorkerJobHost)
    holdings: Holdings = msgspec.field(default_factory=Holdings)
    mode: WorkerMode = msgspec.field(default_factory=lambda: WorkerMode(1))
    roster: Roster = msgspec.field(default_factory=Roster)


class Slot:
    """Runs one job at a time.

    Attributes:
        held: the job whose handler runs now.
        cut_short: the job whose handler was cancelled from outside of the slot; nothing was settled.
    """

    def __init__(self, context: SlotContext) -> None:
        self._identity = context.identity
        self._threads = context.threads
        self._backlog = context.backlog
        self._outcomes = context.outcomes
        self._middlewares_of = context.middlewares
        self._announcer = context.announcer
        self._subscribed = context.announcer.subscribed
        self._processes = context.processes
        self._host = context.host
        self._holdings = context.holdings
        self._mode = context.mode
        self._roster = context.roster
        self._jobs_begun = 0
        self.held: HeldJob | None = None
        self.cut_short: HeldJob | None = None

    async def run(self) -> None:
        """Run one job after another until the backlog has none for this slot. Raises nothing but trio.Cancelled from outside."""
        self._roster.slots[self] = trio.lowlevel.current_task()
        try:
            held = await self._take()
            while held is not None:
                held = await self._run_in_one_scope(held)
        finally:
            del self._roster.slots[self]

    async def _take(self) -> HeldJob | None:
        """The next job, when there is room for its outcome; None when the backlog is closed, or lets the slot go.

        Lets the other tasks run every few jobs.
        """
        self._jobs_begun += 1
        if self._jobs_begun % JOBS_PER_CHECKPOINT == 0:
            self._backlog.ask_for_more()
            await trio.lowlevel.checkpoint()
            if self._backlog.lets_go():
                return None
        while True:
            if self._outcomes.is_crowded:
                await self._outcomes.room()
            if not self._backlog:
                self._backlog.ask_for_more()
            held = await self._backlog.take()
            if held is None:
                return None
            if not self._mode.is_interrupted:
                self._roster.begun += 1
                return held
            self._outcomes.put(Released(held))

    async def _run_in_one_scope(self, held: HeldJob) -> HeldJob | None:
        """Run this job and those that follow it, until one has used up the cancel scope. Returns the next job, if any.

        A scope costs more than all else that a slot does for a job, and most jobs never need it for themselves.
        """
        current: HeldJob | None = held
        outcome: Outcome | None = None
        try:
            with trio.CancelScope() as scope:
                innermost = _innermost_scope()
                while current is not None:
                    if self._begin(current):
                        outcome = await self._attempt(current, scope)
                        if self._used_up(current) or _innermost_scope() is not innermost:
                            break
                        self._end(current, outcome)
                    current = None
                    current = await self._take()
            if current is not None and scope.cancelled_caught:
                outcome = cancelled(current)
        except RuntimeError as error:
            if current is None:
                raise
            # it left a scope of its own open; trio has closed it
            outcome = unless_interrupted(Failed(current, describe(error), discard=True))
        except BaseException:
            if current is not None:
                self.cut_short = current
                await self._leave(current)
            raise
        if current is None:
            return None
        await self._leave(current)
        self._end(current, outcome)
        return await self._take()

    def _used_up(self, held: HeldJob) -> bool:
        """Whether the scope was cancelled or given a deadline for this job, or the job has left something to undo."""
        return held.lost is not None or held.clock is not None or bool(self._host.sessions)

    def _begin(self, held: HeldJob) -> bool:
        """Mark the job as running and return True; False where its lease is lost."""
        now = monotonic()
        if held.lost is None and now >= held.trusted_until:
            held.lapse(now)
        if held.lost is not None:
            self._give_up(held)
            return False
        self.held = held
        held.started = now
        running_job.set((held.row, self._identity.worker_id))
        if JobStarted in self._subscribed:
            self._announcer.started(held)
        return True

    async def _attempt(self, held: HeldJob, scope: trio.CancelScope) -> Outcome | None:
        """How the attempt ended. Raises trio.Cancelled when the scope is cancelled, or one outside."""
        if held.deadline is not None and held.deadline <= monotonic():
            return Failed(held, TOO_LATE, discard=True)
        kind = held.kind
        try:
            if held.args.startswith(START):
                await self._host.large.fetch_args(held)
                if held.lost is not None:
                    return cancelled(held)
            chain = self._middlewares_of(kind)
            named = kind.decode_args(held.args) if chain or kind.runs != "process" else {}
            job = self._job(held) if chain or kind.takes_job or kind.is_atomic else None
        except Exception as error:
            failed = Failed(held, describe(error), discard=isinstance(error, InvalidArgs))
            return await self._host.spare(held, error) or failed
        held.start_clock(scope)
        try:
            if kind.is_atomic:
                await self._host.begin_atomic(held)
            if job is not None and chain:
                end = await self._call_within(chain, held, job, named)
            else:
                end = await self._call(held, job, named)
            return missed(held, None) or await self._returned(held, end)
        except BaseException as error:
            failure = without_cancellation(error)
            if failure is None:
                raise
            failure = single_cause(failure)
            return missed(held, failure) or await self._raised(held, failure)

    def _job(self, held: HeldJob) -> Job:
        return held.job(self._identity.worker_id, HostedAttempt(self._host, held))

    async def _call(self, held: HeldJob, job: Job | None, named: dict[str, Any], *, decodes: bool = False) -> Any:
        """Call the handler in the flavour it was written for. Raises what it raises.

        Cancelling this waits for a thread, which ends where it calls `leasehold.checkpoint()`, and kills a process. A
        process gets the args as they were claimed, and answers with JSON, with `decodes` with a value.

        Raises BadInput where this worker cannot run the kind, ProcessCrashed and MemoryLimitExceeded for a process.
        """
        kind = held.kind
        args = (job,) if kind.takes_job else ()
        match kind.runs:
            case "trio":
                return await kind.function(*args, **named)
            case "asyncio":
                return await run_asyncio(partial(kind.function, *args, **named))
            case "thread":
                call = partial(kind.function, *args, **named)
                return await trio.to_thread.run_sync(call_in_thread, kind, call, limiter=self._threads)
            case "process":
                most_output = self._host.large.most
                return await invoke_apart(self._processes, held, self._identity, most_output, decodes=decodes)
            case _:  # a job that no flavour ran must not complete
                raise BadInput(f"kind {kind.name}: there is no way to run it as {kind.runs!r}")

    async def _call_within(self, chain: tuple[Middleware, ...], held: HeldJob, job: Job, named: dict[str, Any]) -> Any:
        """Call the handler through its middlewares, and return what the outermost returns. The job gets a context of its own."""
        context = Context()
        job = msgspec.structs.replace(job, context=context)
        attempt = Attempt(job, held.kind, named, context)
        call: CallNext = partial(self._call, held, job, named, decodes=True)
        for layer in reversed(chain):
            call = partial(layer, attempt, call)
        return await call()

    async def _returned(self, held: HeldJob, end: Any) -> Outcome:
        if self._host.sessions or (end is not None and isinstance(end, ENDINGS)):
            outcome = await self._host.close(held, end)
        else:
            outcome = completed(held, end, self._host.large.most)
            if self._host.large.is_large(outcome):
                outcome = await self._host.large.put_away(outcome)
        return unless_interrupted(outcome) if isinstance(outcome, Failed) else outcome

    async def _raised(self, held: HeldJob, failure: BaseException) -> Outcome:
        if held.lost == SHUTDOWN and not isinstance(failure, CONTROLS):
            return unless_interrupted(Failed(held, describe(failure)))
        advice = wrong_flavour_of_middleware(held.kind, failure) or wrong_flavour(held.kind, failure)
        if advice is not None:
            return Failed(held, describe(advice.with_traceback(failure.__traceback__)), discard=True)
        if isinstance(failure, CONTROLS):
            return self._host.waits(held, failure) if isinstance(failure, WaitFor) else raised(held, failure)
        return await self._host.spare(held, failure) or raised(held, failure)

    async def _leave(self, held: HeldJob) -> None:
        """The handler has ended: roll back what it left open."""
        self.held = None
        if self._host.sessions:
            await self._host.leave(held)

    def _end(self, held: HeldJob, outcome: Outcome | None) -> None:
        """Settle what came of the job, unless it was lost."""
        self.held = None
        if held.watched is not None:
            held.watched.cancel()
        if held.lost not in (None, SHUTDOWN):
            log.warning(
                "job %s attempt %s: lease lost (%s), the handler was cancelled",
                held.id,
                held.attempt,
                held.lost,
                extra={"job_id": held.id, "reason": held.lost},
            )
            self._give_up(held)
        elif outcome is not None:
            self._outcomes.put(outcome)

    def _give_up(self, held: HeldJob) -> None:
        """Hand a lost job back or drop it. One that was given up for lack of a renewal and cannot go back stays ours until
        its lease runs out: otherwise the next reconciliation would find an unknown claim and hand it back.
        """
        self._announcer.lost(held)
        if held.may_go_back:
            self._outcomes.put(Released(held))
        elif held.lost == UNRENEWED:
            held.is_left = True
        else:
            self._holdings.drop(held)


def _innermost_scope() -> object:
    """An object that differs while another cancel scope is entered. None where trio does not show it."""
    return getattr(trio.lowlevel.current_task(), "_cancel_status", None)
