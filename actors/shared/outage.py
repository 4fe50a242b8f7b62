"""Says that the database is away, once for all actors of a process, and that it is back.

An outage begins with the first actor that loses the database. While it lasts, `watch` asks the database every second:
an actor that runs again does not prove that the outage is over. `observability.outage` decides when a line is due.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

import trio

from leasehold.concurrency.signal import Signal
from leasehold.errors import DatabaseUnavailable
from leasehold.observability.health import ANSWER_SECONDS, PROBE_SECONDS, OutageReminder

log = logging.getLogger(__name__)

LEASES_RUN_OUT = "claimed jobs whose leases run out go to other workers"


class Askable(Protocol):
    """A database that can be asked whether it is there."""

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> object:
        """Run one statement. Raises DatabaseUnavailable."""
        ...


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

    async def watch(self, database: Askable) -> None:
        """Say when each outage is over, until cancelled."""
        while True:
            await self._begun.wait()
            while not await _answers(database):
                self._remind(trio.current_time())
                await trio.sleep(PROBE_SECONDS)
            self._over(trio.current_time())

    def _over(self, now: float) -> None:
        if self._reminder.was_said:
            seconds, actors = self._reminder.seconds(now), ", ".join(sorted(self._actors))
            text = "the database answers again, %.1f s after its loss was noticed (%s had lost it)"
            log.warning(text, seconds, actors, extra={"seconds": round(seconds, 1)})
        self._actors.clear()


async def _answers(database: Askable) -> bool:
    try:
        await database.fetch("select 1", timeout=ANSWER_SECONDS)
    except DatabaseUnavailable:
        return False
    return True
