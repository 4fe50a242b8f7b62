"""Says that requests are answered 503: once when that begins, then once a minute, and once when the database is back.

`OutageReminder` decides when a line is due.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic

from leasehold.errors import LeaseholdError
from leasehold.gateway.http.problems import DATABASE_UNAVAILABLE, ProblemType
from leasehold.observability.health import ANSWER_SECONDS, PROBE_SECONDS, OutageReminder

log = logging.getLogger(__name__)


class GatewayOutage:
    """Logs which requests cannot be served, and since when. Use it in one event loop only.

    An outage of the database begins with the first request that is refused for it and is over when `ask` gets an answer.

    Args:
        ask: asks something of the database. Raises LeaseholdError.
        clock: seconds, of any beginning.
    """

    def __init__(self, ask: Callable[[], Awaitable[None]], clock: Callable[[], float] = monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._reminders: defaultdict[str, OutageReminder] = defaultdict(OutageReminder)
        self._refused: dict[str, int] = {}
        self._error: Exception | None = None
        self._watching: asyncio.Task[None] | None = None

    def refused(self, problem: ProblemType, error: Exception) -> None:
        """A request was answered 503."""
        code = problem.code
        self._refused[code] = self._refused.get(code, 0) + 1
        if code == DATABASE_UNAVAILABLE.code:
            self._error = error
            if self._watching is None:
                self._database.begin(self._clock())
                self._refused[code] = 1
                self._watching = asyncio.create_task(self._watch(), name="leasehold gateway outage")
            self._remind()
        elif self._reminders[code].due(self._clock()):
            log.warning("requests are answered 503 %s (%d so far): %s", code, self._refused[code], error)

    async def close(self) -> None:
        """Stop asking for the database."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching

    @property
    def _database(self) -> OutageReminder:
        return self._reminders[DATABASE_UNAVAILABLE.code]

    def _remind(self) -> None:
        now, requests = self._clock(), self._refused[DATABASE_UNAVAILABLE.code]
        match self._database.due(now):
            case "began":
                text = "the database is away: %s; requests that need it are answered 503 until it answers, see `leasehold doctor`"
                log.warning(text, self._error)
            case "lasts":
                text = "the database has been away for %.0f s, %d requests were answered 503: %s"
                log.warning(text, self._database.seconds(now), requests, self._error)
            case None:
                pass

    async def _watch(self) -> None:
        await asyncio.sleep(PROBE_SECONDS)
        while not await self._answers():
            self._remind()
            await asyncio.sleep(PROBE_SECONDS)
        self._watching = None
        if self._database.was_logged:
            text = "the database answers again after %.1f s, %d requests were answered 503"
            log.warning(text, self._database.seconds(self._clock()), self._refused[DATABASE_UNAVAILABLE.code])

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._ask()
        except (LeaseholdError, TimeoutError):
            return False
        return True
