"""What comes of an attempt: what its handler returned or raised, or why it was cancelled, becomes an outcome."""

from __future__ import annotations

import logging
from typing import Any, cast

import trio

from leasehold.actors.attempts.held_job import SHUTDOWN, HeldJob
from leasehold.actors.attempts.outcome import (
    CONTROLS,
    Failed,
    Outcome,
    Released,
    completed,
    describe,
    in_a_line,
    raised,
    with_raised,
)
from leasehold.actors.running.job_host import WorkerJobHost
from leasehold.actors.running.wrong_flavour import wrong_flavour, wrong_flavour_of_middleware
from leasehold.jobs.endings import ContinueWith, WaitFor

log = logging.getLogger(__name__)

ENDINGS = (ContinueWith, WaitFor)


async def outcome_of_return(host: WorkerJobHost, held: HeldJob, end: Any) -> Outcome:
    """That of a handler that returned `end`. Raises what the commit of its completion raises."""
    if host.sessions or (end is not None and isinstance(end, ENDINGS)):
        outcome = await host.close(held, end)
    else:
        outcome = completed(held, end, host.large.most)
        if host.large.is_large(outcome):
            outcome = await host.put_away(held, outcome)
    return unless_interrupted(outcome) if isinstance(outcome, Failed) else outcome


async def outcome_of_error(host: WorkerJobHost, held: HeldJob, failure: BaseException) -> Outcome:
    """That of a handler that raised, however it came to that: also on its way out of a cancellation."""
    if held.lost == SHUTDOWN and not isinstance(failure, CONTROLS):
        return unless_interrupted(Failed(held, describe(failure)))
    advice = wrong_flavour_of_middleware(held.kind, failure) or wrong_flavour(held.kind, failure)
    if advice is not None:
        return Failed(held, describe(advice.with_traceback(failure.__traceback__)), discard=True)
    if isinstance(failure, CONTROLS):
        return host.waits(held, failure) if isinstance(failure, WaitFor) else raised(held, failure)
    return await host.spare(held, failure) or raised(held, failure)


def outcome_of_cancellation(held: HeldJob) -> Outcome | None:
    """That of a handler that let our cancellation through; None: the job is not ours any more."""
    if held.lost == SHUTDOWN:
        return Released(held)
    if held.lost is not None or held.clock is None:
        return None
    error, is_last = held.clock.error()
    return Failed(held, error, discard=is_last)


def missed(held: HeldJob, failure: BaseException | None) -> Failed | None:
    """The outcome of a handler that came back by itself after the deadline of its job."""
    error = None if held.clock is None else held.clock.missed()
    if error is None:
        return None
    return Failed(held, error if failure is None else with_raised(error, failure), discard=True)


def unless_interrupted(failed: Failed) -> Failed | Released:
    """This failure. But a job that a shutdown interrupted is handed back: its handler may fail because it was cancelled."""
    held = failed.held
    if held.lost != SHUTDOWN:
        return failed
    log.warning(
        "job %s attempt %s: handed back, because the worker ends; its handler was cancelled and ended with %s",
        held.id,
        held.attempt,
        in_a_line(failed.error),
        extra={"job_id": held.id, "reason": SHUTDOWN, "error": failed.error},
    )
    return Released(held)


def without_cancellation(error: BaseException) -> BaseException | None:
    """What the handler raised besides our cancellation; None: nothing else. Any other cancellation is a failure."""
    if trio.current_effective_deadline() > float("-inf"):
        return error
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).split(trio.Cancelled)[1]
    return None if isinstance(error, trio.Cancelled) else error
