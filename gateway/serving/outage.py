"""Says once that requests are answered 503, again once a minute, and once that the database is back: not for each request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic

from leasehold.errors import LeaseholdError
from leasehold.gateway.http.problems import DATABASE_UNAVAILABLE, ProblemType

logger = logging.getLogger(__name__)

PROBE_SECONDS = 1.0
ANSWER_SECONDS = 5.0
REMIND_SECONDS = 60.0


class Outage:
    """What cannot be served, and since when. To be used in one event loop.

    An outage of the database begins with the first request that is refused for it and is over when `ask` gets an answer. Of
    one that begins within a minute of the last line nothing is said before that minute is over.

    Args:
        ask: asks something of the database. Raises LeaseholdError.
        clock: seconds, of any beginning.
    """

    def __init__(self, ask: Callable[[], Awaitable[None]], clock: Callable[[], float] = monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._said_at: dict[str, float] = {}
        self._refused: dict[str, int] = {}
        self._since = 0.0
        self._was_said = False
        self._error: Exception | None = None
        self._watching: asyncio.Task[None] | None = None

    def refused(self, problem: ProblemType, error: Exception) -> None:
        """A request was answered 503."""
        code = problem.code
        self._refused[code] = self._refused.get(code, 0) + 1
        if code == DATABASE_UNAVAILABLE.code:
            self._error = error
            if self._watching is None:
                self._since, self._was_said, self._refused[code] = self._clock(), False, 1
                self._watching = asyncio.create_task(self._watch(), name="leasehold gateway outage")
            self._remind()
        elif self._is_due(code):
            logger.warning("requests are answered 503 %s (%d so far): %s", code, self._refused[code], error)

    async def close(self) -> None:
        """Look for the database no more."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching

    def _is_due(self, code: str) -> bool:
        now = self._clock()
        if now - self._said_at.get(code, float("-inf")) < REMIND_SECONDS:
            return False
        self._said_at[code] = now
        return True

    def _remind(self) -> None:
        if not self._is_due(DATABASE_UNAVAILABLE.code):
            return
        if self._was_said:
            seconds, requests = self._clock() - self._since, self._refused[DATABASE_UNAVAILABLE.code]
            logger.warning(
                "the database has been away for %.0f s, %d requests were answered 503: %s",
                seconds,
                requests,
                self._error,
            )
        else:
            logger.warning(
                "the database is away: %s; requests that need it are answered 503 until it answers, see `leasehold doctor`",
                self._error,
            )
        self._was_said = True

    async def _watch(self) -> None:
        await asyncio.sleep(PROBE_SECONDS)
        while not await self._answers():
            self._remind()
            await asyncio.sleep(PROBE_SECONDS)
        self._watching = None
        if self._was_said:
            logger.warning(
                "the database answers again after %.1f s, %d requests were answered 503",
                self._clock() - self._since, self._refused[DATABASE_UNAVAILABLE.code],
            )  # fmt: skip

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._ask()
        except (LeaseholdError, TimeoutError):
            return False
        return True
