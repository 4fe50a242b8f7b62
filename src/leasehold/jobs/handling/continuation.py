"""How a handler ends its job other than with an output: with the next job of the chain, or by waiting for others."""

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

    `ContinueWith[R]` says that the chain ends with an `R`. In a handler that takes its job, `job.continue_with(...)` makes
    one, and notices when it was not returned.

    Attributes:
        next: the job that continues the chain.
        blockers: chains that have to complete before it starts, by id or as new jobs: a fan-out and a fan-in. They come
            after those that `next` names itself.
        jobs: begin chains of their own in the same commit; nobody waits for them.
    """

    next: NewJob[R_co]
    blockers: Sequence[Blocker] = ()
    jobs: Sequence[NewJob[Any]] = ()


class WaitFor(Exception):
    """Raise it in a handler to run the job again when other chains have completed, without counting the attempt.

    Args:
        blockers: chains to wait for, by id or as new jobs, which are made in the same commit. `await job.blockers()` gives
            their outputs in this order when the handler runs again. They come after those that the job had already.
        delay: wait at least so long; seconds or timedelta.

    Raises:
        BadInput: `delay` is less than 0 or not finite.
    """

    def __init__(self, blockers: Sequence[Blocker], delay: float | timedelta | None = None) -> None:
        super().__init__(f"the handler waits for {len(blockers)} chains")
        self.blockers = tuple(blockers)
        self.delay = None if delay is None else seconds_of(delay)
