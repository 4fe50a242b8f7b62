"""A place for one running handler. The job may fail; the slot lives."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, cast
from uuid import UUID

import trio

from leasehold.actors.announcer import SILENT, Announcer
from leasehold.actors.desk import NO_DESK, WorkerDesk
from leasehold.actors.held import SHUTDOWN, Held
from leasehold.actors.invocation import Apart, invoke
from leasehold.actors.onion import NO_LAYERS, invoke_within
from leasehold.actors.outcome import Failed, Outcome, Released, completed, describe, raised
from leasehold.actors.processes.pool import ProcessPool
from leasehold.continuation import ContinueWith, WaitFor
from leasehold.events import JobStarted
from leasehold.job import Job
from leasehold.job_context import running_job
from leasehold.kind import Kind
from leasehold.middleware import Middleware

log = logging.getLogger("leasehold.worker")

ENDINGS = (ContinueWith, WaitFor)

__all__ = ["SHUTDOWN", "Slot", "describe_slot"]


class Slot:
    """Runs one job at a time.

    Args:
        incarnation, worker_id: of the worker.
        threads: limits the threads of sync handlers.
        settle: takes the outcome; never waits.
        layers: the middlewares of each kind.
        announcer: of the worker.
        processes: for handlers that run in one.
        desk: of the worker, for handlers that want a transaction.
    """

    def __init__(
        self, incarnation: UUID, worker_id: str, threads: trio.CapacityLimiter, settle: Callable[[Outcome], None],
        layers: Mapping[Kind[..., Any], tuple[Middleware, ...]] = NO_LAYERS, announcer: Announcer = SILENT,
        processes: ProcessPool | None = None, desk: WorkerDesk = NO_DESK,
    ) -> None:  # fmt: skip
        self._incarnation = incarnation
        self._worker_id = worker_id
        self._threads = threads
        self._settle = settle
        self._layers = layers
        self._announcer = announcer
        self._heard = announcer.heard
        self._processes = processes
        self._desk = desk
        self.held: Held | None = None

    async def run_job(self, held: Held) -> None:
        """Run the handler of one job and settle what came of it. Raises nothing but trio.Cancelled from outside."""
        if held.lost is not None:
            self._announcer.lost(held)
            return
        self.held = held
        held.started = monotonic()
        running_job.set((held.row, self._worker_id))
        if JobStarted in self._heard:
            self._announcer.started(held)
        try:
            outcome = await self._attempt(held)
        finally:
            self.held = None
            if self._desk.works:
                await self._desk.leave(held)
            if held.watched is not None:
                held.watched.cancel()
        if held.lost not in (None, SHUTDOWN):
            log.warning(
                "job %s attempt %s: lease lost (%s), the handler was cancelled",
                held.id, held.attempt, held.lost, extra={"job_id": held.id, "reason": held.lost},
            )  # fmt: skip
            self._announcer.lost(held)
        elif outcome is not None:
            self._settle(outcome)

    async def _attempt(self, held: Held) -> Outcome | None:
        kind = held.kind
        try:
            layers = self._layers[kind]
            apart = self._apart(held, decodes=bool(layers)) if kind.runs == "process" else None
            named = kind.decode_args(held.row["args"]) if apart is None or layers else {}
            args = (self._job(held),) if kind.takes_job else ()
        except Exception as error:
            return Failed(held, describe(error))
        with trio.CancelScope() as scope:
            held.start_clock(scope)
            try:
                if kind.is_atomic:
                    await self._desk.begin_atomic(args[0] if args else self._job(held), kind)
                if layers:
                    job = args[0] if args else self._job(held)
                    end = await invoke_within(layers, job, kind, named, self._threads, apart)
                else:
                    end = await invoke(kind, args, named, self._threads, apart)
                if self._desk.works or (end is not None and isinstance(end, ENDINGS)):
                    return await self._desk.close(held, end)
                return completed(held, end)
            except BaseException as error:
                failure = _without_cancellation(error)
                if failure is None:
                    raise
                return self._desk.waits(held, failure) if isinstance(failure, WaitFor) else raised(held, failure)
        return self._cancelled(held)

    def _job(self, held: Held) -> Job:
        return held.job(self._incarnation, self._worker_id, self._desk)

    def _apart(self, held: Held, *, decodes: bool) -> Apart:
        return Apart(self._processes, held, self._incarnation, self._worker_id, decodes)

    def _cancelled(self, held: Held) -> Outcome | None:
        if held.lost == SHUTDOWN:
            return Released(held)
        if held.lost is not None or held.clock is None:
            return None
        error, is_last = held.clock.error()
        return Failed(held, error, discard=is_last)


def _without_cancellation(error: BaseException) -> BaseException | None:
    """What the handler raised beside a cancellation of ours; one that nobody asked for is a failure like any other."""
    if trio.current_effective_deadline() > float("-inf"):
        return error
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).split(trio.Cancelled)[1]
    return None if isinstance(error, trio.Cancelled) else error


def describe_slot(slot: Slot) -> dict[str, Any] | None:
    """What a slot runs, for people."""
    held = slot.held
    return None if held is None else {"job_id": held.id, "kind": held.kind.name, "attempt": held.attempt}
