"""What `leasehold doctor` would say of the server, for all who ask: examined once for those who ask at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

from leasehold.checks.checkup import check_all
from leasehold.checks.verdicts import Check
from leasehold.database import AsyncioDatabase
from leasehold.database.migrations import read_schema_state
from leasehold.settings import Settings

FRESH_SECONDS = 10.0
PLACE = "as this gateway reaches it"

Examine = Callable[[], Awaitable[Sequence[Check]]]


class Checkup:
    """The last examination, and how to make another one once that is no longer fresh."""

    def __init__(self, examine: Examine, now: Callable[[], float] = monotonic) -> None:
        self._examine = examine
        self._now = now
        self._found: Sequence[Check] = ()
        self._ended: float | None = None
        self._turn = asyncio.Lock()

    async def checks(self, within: float = FRESH_SECONDS) -> Sequence[Check]:
        """What was found at most `within` seconds ago. Raises LeaseholdError where the database cannot be asked."""
        async with self._turn:
            if self._ended is None or self._now() - self._ended >= within:
                self._found = await self._examine()
                self._ended = self._now()
        return self._found


def checkup_of(database: AsyncioDatabase, settings: Settings) -> Checkup:
    """Of the database of a gateway, with the rights of its role."""

    async def examine() -> Sequence[Check]:
        async with database.transaction() as session:
            state = await read_schema_state(session)
        return await check_all(database, state, settings, PLACE, None)

    return Checkup(examine)
