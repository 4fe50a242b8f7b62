"""What a handler may say about its own end, and the back-off of a kind."""

from __future__ import annotations

import math
from datetime import timedelta

import msgspec
import trio

from leasehold import validation
from leasehold.errors import BadInput


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Exponential back-off with full jitter: a random wait below min(cap, initial × multiplier^(attempt − 1)) seconds.

    The database draws it (`leasehold.retry_delay`), so that workers of all languages wait alike.

    Raises:
        BadInput: initial or cap below 0, multiplier below 1.
    """

    initial: float = 10.0
    multiplier: float = 2.0
    cap: float = 300.0

    def __post_init__(self) -> None:
        for name in ("initial", "multiplier", "cap"):
            if not validation.is_number(value := getattr(self, name)):
                raise validation.refusal(f"{name} of a RetryPolicy", "a number", value)
        if not (self.initial >= 0 and self.cap >= 0 and self.multiplier >= 1):
            raise BadInput(f"initial and cap must be 0 or more and multiplier 1 or more, not {self}")


class Retry(Exception):
    """Raise it in a handler to be tried again after `after` (seconds or timedelta) instead of the back-off.

    Raises:
        BadInput: `after` is less than 0 or not finite.
    """

    def __init__(self, after: float | timedelta, reason: str = "the handler asked for a retry") -> None:
        super().__init__(reason)
        self.after = seconds_of(after)


class Reschedule(Exception):
    """Raise it in a handler to run the job again after `after` without counting the attempt.

    Raises:
        BadInput: `after` is less than 0 or not finite.
    """

    def __init__(self, after: float | timedelta, reason: str = "the handler asked to run later") -> None:
        super().__init__(reason)
        self.after = seconds_of(after)


class Discard(Exception):
    """Raise it in a handler to fail the job for good, whatever attempts are left."""


def seconds_of(after: float | timedelta) -> float:
    """A length of time in seconds. Raises BadInput where it is less than 0 or not finite."""
    seconds = after.total_seconds() if isinstance(after, timedelta) else float(after)
    if not (math.isfinite(seconds) and seconds >= 0):
        raise BadInput(f"after must be 0 or more seconds or a timedelta, not {after}")
    return seconds


def checkpoint() -> None:
    """For handlers that run in a thread: end here if the job was cancelled, timed out or lost. Cheap enough for loops.

    In a process there is no need for it, and it does nothing.
    """
    if not _State.is_cancelled_by_kill:
        trio.from_thread.check_cancelled()


def cancelled_by_kill() -> None:
    """This process is for handlers and is killed to cancel one, so `checkpoint` has nothing to do in it."""
    _State.is_cancelled_by_kill = True


class _State:
    is_cancelled_by_kill = False
