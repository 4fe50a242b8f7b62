"""Restarts actors that lost the database, and ends the process when one fails for any other reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Protocol, cast

import trio

from leasehold.actors.shared.outage import Outage
from leasehold.actors.shared.waiting import Backoff
from leasehold.errors import ActorFailed, DatabaseUnavailable, EpochOver, SettingsError


class Actor(Protocol):
    """The contract: `run` goes on until cancelled or drained and may be called again after DatabaseUnavailable."""

    @property
    def name(self) -> str:
        """The name in log lines."""
        ...

    def run(self) -> Awaitable[None]:
        """Do the work."""
        ...


def nobody(_actor: str, _error: BaseException, _again_in: float | None) -> None:
    """Is told of failures and does nothing."""


async def supervise(
    actor: Actor,
    tell: Callable[[str, BaseException, float | None], object] = nobody,
    outage: Outage | None = None,
) -> None:
    """Run an actor; when it loses the database, run it again after a jittered back-off, for as long as it takes.

    Args:
        actor: see its contract.
        tell: called at each failure with the actor's name, the error, and the seconds until it runs again or None.
        outage: of the process; it writes the lines about a lost database. None: one for this actor alone.

    Raises:
        ActorFailed: it failed for a reason that a restart does not cure.
        SettingsError: it cannot work as it is configured.
    """
    backoff = Backoff()
    outage = outage or Outage()
    while True:
        try:
            await actor.run()
            return
        except Exception as error:
            cause = culprit(error)
            if isinstance(cause, ActorFailed):
                raise cause from cause.__cause__
            if not isinstance(cause, DatabaseUnavailable):
                tell(actor.name, cause, None)
                if isinstance(cause, SettingsError):
                    raise cause from cause.__cause__
                raise ActorFailed(f"{actor.name} failed: {cause!r}") from cause
            wait = backoff.wait(monotonic())
            if not isinstance(cause, EpochOver):
                outage.lost(actor.name, cause)
            tell(actor.name, cause, wait)
        await trio.sleep(wait)


async def until_there(begin: Callable[[], Awaitable[object]] | None, outage: Outage) -> None:
    """Call `begin` again and again, after a jittered back-off, while it raises DatabaseUnavailable."""
    backoff = Backoff()
    while begin is not None:
        try:
            await begin()
            return
        except DatabaseUnavailable as error:
            outage.lost("start", error)
        await trio.sleep(backoff.wait(monotonic()))


def culprit(error: BaseException) -> BaseException:
    """The error inside of exception groups: the first that is no DatabaseUnavailable, or else the first of all."""
    leaves = _leaves(error)
    return next((leaf for leaf in leaves if not isinstance(leaf, DatabaseUnavailable)), leaves[0])


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return [leaf for each in inner for leaf in _leaves(each)]
    return [error]
