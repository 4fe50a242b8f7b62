"""How a handler ends besides returning: try again, go on with another job, wait for chains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Generic

import msgspec

from leasehold import validation
from leasehold.concurrency.flavours import check_cancelled
from leasehold.errors import BadInput
from leasehold.jobs.new_job import Blocker, NewJob, R_co


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Exponential back-off with full jitter: a random wait below min(cap, initial × multiplier^(attempt − 1)) seconds.

    `linear` makes one that waits exactly min(cap, step × attempt) seconds.

    The database reckons the wait (`leasehold.retry_delay`), so workers in all languages wait alike.

    Attributes:
        initial: seconds below which the wait after the first attempt lies.
        multiplier: how much longer each further wait may be.
        cap: seconds that no wait exceeds.
        step: seconds by which each wait is longer than the one before, instead of initial and multiplier. None: exponential.

    Raises:
        BadInput: initial, cap or step below 0, multiplier below 1.
    """

    initial: float = 10.0
    multiplier: float = 2.0
    cap: float = 300.0
    step: float | None = None

    @classmethod
    def linear(cls, *, step: float, cap: float = 300.0) -> RetryPolicy:
        """Each wait is `step` seconds longer than the one before, up to `cap`: 5, 10, 15 … Raises BadInput for less than 0."""
        return cls(step=step, cap=cap)

    def __post_init__(self) -> None:
        for name in ("initial", "multiplier", "cap", *(() if self.step is None else ("step",))):
            if not validation.is_number(value := getattr(self, name)):
                raise validation.refusal(f"{name} of a RetryPolicy", "a number", value)
        if not (self.initial >= 0 and self.cap >= 0 and self.multiplier >= 1 and (self.step is None or self.step >= 0)):
            raise BadInput(f"initial, cap and step must be 0 or more and multiplier 1 or more, not {self}")


class Retry(Exception):
    """Raise it in a handler to fail the attempt and be retried after `after` instead of the back-off.

    Args:
        after: seconds or timedelta.
        reason: the message of the failed attempt.

    Raises:
        BadInput: `after` is less than 0 or not finite.
    """

    def __init__(self, after: float | timedelta, reason: str = "the handler asked for a retry") -> None:
        super().__init__(reason)
        self.after = seconds_of(after)


class Reschedule(Exception):
    """Raise it in a handler to run the job again after `after`, or at the time `at`. The attempt does not count.

    Args:
        after: seconds or timedelta.
        reason: for the timeline of the job.
        at: a datetime with a time zone, instead of `after`; one that is past means now, by the clock of the database.

    Raises:
        BadInput: `after` is less than 0 or not finite, `at` has no time zone, or both or neither are given.
    """

    def __init__(
        self,
        after: float | timedelta | None = None,
        reason: str = "the handler asked to run later",
        *,
        at: datetime | None = None,
    ) -> None:
        super().__init__(reason)
        if (after is None) == (at is None):
            raise BadInput("a Reschedule needs after=… or at=…, and not both")
        self.at = None if at is None else time_of(at)
        self.after = None if after is None else seconds_of(after)


class Discard(Exception):
    """Raise it in a handler to fail the job for good, even if it has attempts left."""


def seconds_of(given: float | timedelta, field: str = "after") -> float:
    """A length of time in seconds. Raises BadInput, which names the field, for what is none, is less than 0 or not finite."""
    try:
        seconds = given.total_seconds() if isinstance(given, timedelta) else float(given)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise BadInput(f"{field} must be 0 or more seconds or a timedelta, not {given!s:.100}")
    return seconds


def time_of(at: object) -> datetime:
    """A moment that is the same everywhere. Raises BadInput for anything but a datetime with a time zone."""
    if not isinstance(at, datetime):
        raise BadInput(f"at must be a datetime with a time zone, not {at!r}")
    if at.utcoffset() is None:
        raise BadInput(f"at must have a time zone, as datetime.now(UTC) has; {at.isoformat()} has none")
    return at


def checkpoint() -> None:
    """In a handler that runs in a thread: end here if the job was cancelled, timed out or lost. Cheap enough for loops.

    In a process it does nothing: a process is killed to cancel its job.
    """
    if not _State.is_cancelled_by_kill:
        check_cancelled()


def cancelled_by_kill() -> None:
    """From now on `checkpoint` does nothing in this process: it is killed to cancel its handler."""
    _State.is_cancelled_by_kill = True


def is_in_process() -> bool:
    """Whether this is a process of handlers, apart from the worker."""
    return _State.is_cancelled_by_kill


class _State:
    is_cancelled_by_kill = False


class ContinueWith(msgspec.Struct, Generic[R_co], frozen=True):
    """Return it from a handler: the job completes, and `next` continues its chain, in one commit.

    `ContinueWith[R]` says that the chain ends with an `R`. In a handler that takes its job, prefer
    `job.continue_with(...)`: if the handler forgets to return what it made, the attempt fails.

    Attributes:
        next: the job that continues the chain.
        blockers: chains that have to complete before `next` starts, by id or as new jobs (fan-out and fan-in). They come
            after the blockers that `next` has itself.
        jobs: new jobs that begin chains of their own in the same commit; `next` does not wait for them.
    """

    next: NewJob[R_co]
    blockers: Sequence[Blocker] = ()
    jobs: Sequence[NewJob[Any]] = ()


class WaitFor(Exception):
    """Raise it in a handler to run the job again when other chains have completed. The attempt does not count.

    Args:
        blockers: chains to wait for, by id or as new jobs, which are made in the same commit. When the handler runs again,
            `await job.blockers()` gives their outputs in this order, after those of earlier blockers of the job.
        delay: wait at least this long, in seconds or as a timedelta.

    Raises:
        BadInput: `delay` is less than 0 or not finite.
    """

    def __init__(self, blockers: Sequence[Blocker], delay: float | timedelta | None = None) -> None:
        super().__init__(f"the handler waits for {len(blockers)} chains")
        self.blockers = tuple(blockers)
        self.delay = None if delay is None else seconds_of(delay, "delay")
