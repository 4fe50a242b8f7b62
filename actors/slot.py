"""A place for one running handler. The job may fail; the slot lives."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, cast
from uuid import UUID

import trio

from leasehold.actors.held import Held
from leasehold.actors.invocation import invoke
from leasehold.actors.outcome import Failed, Outcome, Released, completed, describe, raised

log = logging.getLogger("leasehold.worker")

SHUTDOWN = "shutdown"


class Slot:
    """Runs one job at a time.

    Args:
        incarnation, worker_id: of the worker.
        threads: limits the threads of sync handlers.
        settle: takes the outcome; never waits.
    """

    def __init__(
        self, incarnation: UUID, worker_id: str, threads: trio.CapacityLimiter, settle: Callable[[Outcome], None]
    ) -> None:
        self._incarnation = incarnation
        self._worker_id = worker_id
        self._threads = threads
        self._settle = settle
        self.held: Held | None = None

    async def run_job(self, held: Held) -> None:
        """Run the handler of one job and settle what came of it. Raises nothing but trio.Cancelled from outside."""
        if held.lost is not None:
            return
        self.held = held
        held.started = monotonic()
        try:
            outcome = await self._attempt(held)
        finally:
            self.held = None
            if held.watched is not None:
                held.watched.cancel()
        if held.lost not in (None, SHUTDOWN):
            log.warning(
                "job %s attempt %s: lease lost (%s), the handler was cancelled",
                held.id, held.attempt, held.lost, extra={"job_id": held.id, "reason": held.lost},
            )  # fmt: skip
        elif outcome is not None:
            self._settle(outcome)

    async def _attempt(self, held: Held) -> Outcome | None:
        kind = held.kind
        try:
            named = kind.decode_args(held.row["args"])
            args = (held.job(self._incarnation, self._worker_id),) if kind.takes_job else ()
        except Exception as error:
            return Failed(held, describe(error))
        timeout = kind.options.timeout
        with trio.CancelScope() as scope:
            if timeout is not None:
                scope.deadline = trio.current_time() + timeout
            held.scope = scope
            try:
                return completed(held, await invoke(kind, args, named, self._threads))
            except BaseException as error:
                failure = _without_cancellation(error)
                if failure is None:
                    raise
                return raised(held, failure)
        return self._cancelled(held, timeout)

    def _cancelled(self, held: Held, timeout: float | None) -> Outcome | None:
        if held.lost == SHUTDOWN:
            return Released(held)
        if held.lost is not None:
            return None
        message = f"the handler was cancelled after its timeout of {timeout} s"
        return Failed(held, {"type": "TimedOut", "message": message, "traceback": ""})


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
