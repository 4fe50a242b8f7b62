"""Says once that the database is away, for all actors of a process, and once that it is back.

An outage begins with the first actor that loses the database. While it lasts somebody asks for the database every second,
since an actor that runs again cannot tell whether it will last. Of one that begins within a minute of the last line nothing
is said before that minute is over, so that an actor that fails again and again beside a database that answers writes two
lines a minute.
"""

from __future__ import annotations

import logging
from typing import Protocol

import trio

from leasehold.concurrency.signal import Signal
from leasehold.errors import DatabaseUnavailable

log = logging.getLogger("leasehold.supervisor")

PROBE_SECONDS = 1.0
ANSWER_SECONDS = 5.0
REMIND_SECONDS = 60.0


class Askable(Protocol):
    """A database that can be asked whether it is there."""

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> object:
        """Run one statement. Raises DatabaseUnavailable."""
        ...


class Outage:
    """Whether the database is away, and since when. To be used in one trio thread."""

    def __init__(self) -> None:
        self._actors: dict[str, BaseException] = {}
        self._since = 0.0
        self._said_at = float("-inf")
        self._was_said = False
        self._begun = Signal()

    def lost(self, actor: str, error: BaseException) -> None:
        """An actor lost the database, whatever it does about it."""
        now = trio.current_time()
        if not self._actors:
            self._since, self._was_said = now, False
            self._begun.set()
        self._actors[actor] = error
        if now - self._said_at >= REMIND_SECONDS:
            self._say(now)

    def _say(self, now: float) -> None:
        actor, error = list(self._actors.items())[-1]
        if self._was_said:
            log.warning(
                "the database has been away for at least %.0f s (%s): %s; claimed jobs whose leases run out go to other workers",
                now - self._since, ", ".join(sorted(self._actors)), error,
            )  # fmt: skip
        else:
            log.warning(
                "%s lost the database: %s; everything that needs it tries again until it answers, see `leasehold doctor`",
                actor, error, extra={"actor": actor},
            )  # fmt: skip
        self._said_at, self._was_said = now, True

    async def watch(self, database: Askable) -> None:
        """Say when each outage is over, until cancelled."""
        while True:
            await self._begun.wait()
            while not await _answers(database):
                if trio.current_time() - self._said_at >= REMIND_SECONDS:
                    self._say(trio.current_time())
                await trio.sleep(PROBE_SECONDS)
            self._over(trio.current_time())

    def _over(self, now: float) -> None:
        if self._was_said:
            log.warning(
                "the database answers again, %.1f s after its loss was noticed (%s had lost it)",
                now - self._since, ", ".join(sorted(self._actors)), extra={"seconds": round(now - self._since, 1)},
            )  # fmt: skip
        self._actors.clear()


async def _answers(database: Askable) -> bool:
    try:
        await database.fetch("select 1", timeout=ANSWER_SECONDS)
    except DatabaseUnavailable:
        return False
    return True
