"""A place for one running handler. The job may fail; the slot lives."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, cast

import msgspec
import trio

from leasehold.actors.attempts.announcer import SILENT, Announcer
from leasehold.actors.attempts.held_job import SHUTDOWN, TOO_LATE, HeldJob
from leasehold.actors.attempts.outcome import (
    CONTROLS,
    Failed,
    Outcome,
    Released,
    completed,
    describe,
    meant,
    raised,
    told_beside,
)
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.processes.pool import ProcessPool
from leasehold.actors.running.invocation import NO_MIDDLEWARES, Apart, invoke, invoke_within, wrong_flavour
from leasehold.actors.running.job_host import HostedAttempt, WorkerJobHost
from leasehold.errors import InvalidArgs
from leasehold.events import JobStarted
from leasehold.jobs.endings import ContinueWith, WaitFor
from leasehold.jobs.job import Job
from leasehold.jobs.kind import Kind
from leasehold.jobs.middleware import Middleware
from leasehold.observability.context import running_job
from leasehold.payloads.claim_checks import START

log = logging.getLogger(__name__)

ENDINGS = (ContinueWith, WaitFor)
Take = Callable[[], Awaitable[HeldJob | None]]
"""Waits for the next job; None: there will be none."""
__all__ = ["SHUTDOWN", "Slot", "describe_slot"]


class SlotContext(msgspec.Struct, frozen=True, eq=False):
    """What all slots of a worker share.

    Attributes:
        identity: of the worker.
        threads: limits the threads of sync handlers.
        settle: takes the outcome; never waits.
        middlewares: the chain of each kind.
        announcer: of the worker.
        processes: for handlers that run in one.
        host: makes the transactions of handlers.
    """

    identity: WorkerIdentity
    threads: trio.CapacityLimiter
    settle: Callable[[Outcome], object]
    middlewares: Mapping[Kind[..., Any], tuple[Middleware, ...]] = NO_MIDDLEWARES
    announcer: Announcer = SILENT
    processes: ProcessPool | None = None
    host: WorkerJobHost = msgspec.field(default_factory=WorkerJobHost)


class Slot:
    """Runs one job at a time.

    Attributes:
        held: the job whose handler runs now.
        cut_short: the job whose handler was cancelled from outside of the slot; nothing was settled.
    """

    def __init__(self, context: SlotContext) -> None:
        self._identity = context.identity
        self._threads = context.threads
        self._settle = context.settle
        self._chains = context.middlewares
        self._announcer = context.announcer
        self._heard = context.announcer.heard
        self._processes = context.processes
        self._host = context.host
        self.held: HeldJob | None = None
        self.cut_short: HeldJob | None = None

    async def run_job(self, held: HeldJob) -> None:
        """Run the handler of one job and settle what came of it. Raises nothing but trio.Cancelled from outside."""

        async def no_more() -> None:
            return None

        await self._run_in_one_scope(held, no_more)

    async def run_jobs(self, take: Take) -> None:
        """Run one job after another until `take` gives None. Raises nothing but trio.Cancelled from outside."""
        held = await take()
        while held is not None:
            held = await self._run_in_one_scope(held, take)

    async def _run_in_one_scope(self, held: HeldJob, take: Take) -> HeldJob | None:
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
                    current = await take()
            if current is not None and scope.cancelled_caught:
                outcome = self._cancelled(current)
        except RuntimeError as error:
            if current is None:
                raise
            outcome = Failed(
                current, describe(error), discard=True
            )  # it left a scope of its own open; trio has closed it
        except BaseException:
            if current is not None:
                self.cut_short = current
                await self._leave(current)
            raise
        if current is None:
            return None
        await self._leave(current)
        self._end(current, outcome)
        return await take()

    def _used_up(self, held: HeldJob) -> bool:
        """Whether the scope was cancelled or given a deadline for this job, or the job has left something to undo."""
        return held.lost is not None or held.clock is not None or bool(self._host.sessions)

    def _begin(self, held: HeldJob) -> bool:
        """Mark the job as running and return True; False where its lease is lost."""
        now = monotonic()
        if held.lost is None and now >= held.trusted_until:
            held.lapse(now)
        if held.lost is not None:
            self._announcer.lost(held)
            self._hand_back(held)
            return False
        self.held = held
        held.started = now
        running_job.set((held.row, self._identity.worker_id))
        if JobStarted in self._heard:
            self._announcer.started(held)
        return True

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
            self._announcer.lost(held)
            self._hand_back(held)
        elif outcome is not None:
            self._settle(outcome)

    def _hand_back(self, held: HeldJob) -> None:
        if held.may_go_back:
            self._settle(Released(held))

    async def _attempt(self, held: HeldJob, scope: trio.CancelScope) -> Outcome | None:
        """How the attempt ended. Raises trio.Cancelled when the scope is cancelled, or one outside."""
        if held.deadline is not None and held.deadline <= monotonic():
            return Failed(held, TOO_LATE, discard=True)
        kind = held.kind
        try:
            if held.args.startswith(START):
                await self._host.fetch_args(held)
                if held.lost is not None:
                    return None
            chain = self._chains[kind]
            apart = self._apart(held, decodes=bool(chain)) if kind.runs == "process" else None
            named = kind.decode_args(held.args) if apart is None or chain else {}
            args = (self._job(held),) if kind.takes_job else ()
        except Exception as error:
            failed = Failed(held, describe(error), discard=isinstance(error, InvalidArgs))
            return await self._host.spare(held, error) or failed
        held.start_clock(scope)
        try:
            if kind.is_atomic:
                await self._host.begin_atomic(held, args[0] if args else self._job(held))
            if chain:
                job = args[0] if args else self._job(held)
                end = await invoke_within(chain, job, kind, named, self._threads, apart)
            else:
                end = await invoke(kind, args, named, self._threads, apart)
            return self._missed(held, None) or await self._returned(held, end)
        except BaseException as error:
            failure = _without_cancellation(error)
            if failure is None:
                raise
            failure = meant(failure)
            return self._missed(held, failure) or await self._raised(held, failure)

    async def _returned(self, held: HeldJob, end: Any) -> Outcome:
        if self._host.sessions or (end is not None and isinstance(end, ENDINGS)):
            return await self._host.close(held, end)
        outcome = completed(held, end, self._host.large.most)
        return await self._host.put_away(held, outcome) if self._host.large.is_large(outcome) else outcome

    async def _raised(self, held: HeldJob, failure: BaseException) -> Outcome:
        advice = wrong_flavour(held.kind, failure)
        if advice is not None:
            return Failed(held, describe(advice.with_traceback(failure.__traceback__)), discard=True)
        if isinstance(failure, CONTROLS):
            return self._host.waits(held, failure) if isinstance(failure, WaitFor) else raised(held, failure)
        return await self._host.spare(held, failure) or raised(held, failure)

    def _missed(self, held: HeldJob, failure: BaseException | None) -> Failed | None:
        """The outcome of a handler that came back by itself after the deadline of its job."""
        missed = None if held.clock is None else held.clock.missed()
        if missed is None:
            return None
        return Failed(held, missed if failure is None else told_beside(missed, failure), discard=True)

    def _job(self, held: HeldJob) -> Job:
        return held.job(self._identity, HostedAttempt(self._host, held))

    def _apart(self, held: HeldJob, *, decodes: bool) -> Apart:
        return Apart(self._processes, held, self._identity, decodes, self._host.large.most)

    def _cancelled(self, held: HeldJob) -> Outcome | None:
        if held.lost == SHUTDOWN:
            return Released(held)
        if held.lost is not None or held.clock is None:
            return None
        error, is_last = held.clock.error()
        return Failed(held, error, discard=is_last)


def _without_cancellation(error: BaseException) -> BaseException | None:
    """What the handler raised besides our cancellation; None: nothing else. Any other cancellation is a failure."""
    if trio.current_effective_deadline() > float("-inf"):
        return error
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).split(trio.Cancelled)[1]
    return None if isinstance(error, trio.Cancelled) else error


def _innermost_scope() -> object:
    """An object that differs while another cancel scope is entered. None where trio does not show it."""
    return getattr(trio.lowlevel.current_task(), "_cancel_status", None)


def describe_slot(slot: Slot) -> dict[str, Any] | None:
    """What a slot runs, for people."""
    held = slot.held
    return None if held is None else {"job_id": held.id, "kind": held.kind.name, "attempt": held.attempt}
