"""Two ways to end an attempt without an output: continue the chain with another job, or wait for other chains."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic

import msgspec

from leasehold.jobs.handling.retry import seconds_of
from leasehold.jobs.producing.new_job import Blocker, NewJob

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    R_co = TypeVar("R_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    R_co = TypeVar("R_co", covariant=True)


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
        self.delay = None if delay is None else seconds_of(delay)
