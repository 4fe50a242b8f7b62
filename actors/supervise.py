"""Restarts actors that lost the database, says so once for all of them, and ends the process when one fails for any other reason.

An outage begins with the first actor that loses the database. While it lasts, `Outage.watch` asks the database every second:
an actor that runs again does not prove that the outage is over. `OutageReminder` decides when a line is due.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Protocol, cast

import trio

from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import ActorFailed, DatabaseUnavailable, EpochOver, SchemaOutdated, SettingsError
from leasehold.observability.health import ANSWER_SECONDS, PROBE_SECONDS, OutageReminder

log = logging.getLogger(__name__)

LEASES_RUN_OUT = "claimed jobs whose leases run out go to other workers"


class Outage:
    """Whether the database is away, and since when. To be used in one trio thread."""

    def __init__(self) -> None:
        self._actors: dict[str, BaseException] = {}
        self._reminder = OutageReminder()
        self._begun = Signal()
        self._listeners: list[Callable[[], object]] = []

    def subscribe(self, listener: Callable[[], object]) -> None:
        """Call `listener` each time an actor loses the database."""
        self._listeners.append(listener)

    def lost(self, actor: str, error: BaseException) -> None:
        """Note that an actor has lost the database because of `error`. Writes a line where one is due."""
        now = trio.current_time()
        if not self._actors:
            self._reminder.begin(now)
            self._begun.set()
        self._actors[actor] = error
        for listener in self._listeners:
            listener()
        self._remind(now)

    def _remind(self, now: float) -> None:
        actor, error = list(self._actors.items())[-1]
        match self._reminder.due(now):
            case "began":
                text = "%s lost the database: %s; everything that needs it tries again until it answers, see `leasehold doctor`"
                log.warning(text, actor, error, extra={"actor": actor})
            case "lasts":
                seconds, actors = self._reminder.seconds(now), ", ".join(sorted(self._actors))
                text = "the database has been away for at least %.0f s (%s): %s; " + LEASES_RUN_OUT
                log.warning(text, seconds, actors, error)
            case None:
                pass

    async def watch(self, database: Caller) -> None:
        """Say when each outage is over, until cancelled."""
        while True:
            await self._begun.wait()
            while not await _answers(database):
                self._remind(trio.current_time())
                await trio.sleep(PROBE_SECONDS)
            self._over(trio.current_time())

    def _over(self, now: float) -> None:
        if self._reminder.was_logged:
            seconds, actors = self._reminder.seconds(now), ", ".join(sorted(self._actors))
            text = "the database answers again, %.1f s after its loss was noticed (%s had lost it)"
            log.warning(text, seconds, actors, extra={"seconds": round(seconds, 1)})
        self._actors.clear()


async def _answers(database: Caller) -> bool:
    try:
        await database.fetch("select 1", timeout=ANSWER_SECONDS)
    except DatabaseUnavailable:
        return False
    return True


class Backoff:
    """Full-jitter back-off between restarts: 0.1 s doubling to 5 s, forgotten after half a minute without trouble."""

    def __init__(self, draw: Callable[[], float] = random.random) -> None:
        self._draw = draw
        self._ceiling = 0.1
        self._last = float("-inf")

    def wait(self, now: float) -> float:
        """Seconds to wait before trying again at `now`."""
        if now - self._last > 30.0:
            self._ceiling = 0.1
        self._last = now
        current, self._ceiling = self._ceiling, min(5.0, self._ceiling * 2)
        return current * (0.5 + 0.5 * self._draw())


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
    failed: Callable[[str, BaseException, float | None], object] = nobody,
    outage: Outage | None = None,
) -> None:
    """Run an actor; when it loses the database, run it again after a jittered back-off, for as long as it takes.

    Args:
        actor: see its contract.
        failed: called at each failure with the actor's name, the error, and the seconds until it runs again or None.
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
                failed(actor.name, cause, None)
                if isinstance(cause, SettingsError):
                    raise cause from cause.__cause__
                raise ActorFailed(f"{actor.name} failed: {cause!r}") from cause
            wait = backoff.wait(monotonic())
            if not isinstance(cause, EpochOver):
                outage.lost(actor.name, cause)
            failed(actor.name, cause, wait)
        await trio.sleep(wait)


async def until_there(begin: Callable[[], Awaitable[object]] | None, outage: Outage) -> None:
    """Call `begin` again and again, after a jittered back-off, while it raises DatabaseUnavailable or SchemaOutdated."""
    backoff, reminder = Backoff(), OutageReminder()
    while begin is not None:
        try:
            await begin()
            return
        except DatabaseUnavailable as error:
            outage.lost("start", error)
        except SchemaOutdated as error:
            if reminder.due(trio.current_time()):
                log.warning("%s; this process waits until that is done", error)
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
