"""Finds stranded jobs, which wait for nothing: recent ones at once, all others in turn."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from leasehold.database import Caller

BATCH = 1000
SLICE = 100
OVERLAP = timedelta(seconds=15)
"""How long a transaction that enqueues may take and still be looked at in the round after its commit."""


class Sweep:
    """Finds one kind of stranded jobs. A round costs the same, however many jobs wait for a good reason.

    The first round looks at all jobs. Each later one looks at what came since the last, and at a slice of the others.

    Args:
        connection: to the database.
        function: the SQL function that looks at some and says where to go on.
        is_over: ends a round early.
    """

    def __init__(self, connection: Caller, function: str, is_over: Callable[[], bool]) -> None:
        self._connection = connection
        self._function = function
        self._is_over = is_over
        self._since: datetime | None = None
        self._place: tuple[datetime | None, int | None] = None, None

    async def round(self, now: datetime) -> int:
        """How many were found. `now` is the database's time at the start. Raises DatabaseUnavailable."""
        found = await self._look_from(self._since)
        if self._since is not None and not self._is_over():
            number, self._place = await self._look(self._place, SLICE)
            found += number
        self._since = now - OVERLAP
        return found

    async def _look_from(self, since: datetime | None) -> int:
        found, place = 0, (since, None)
        while not self._is_over():
            number, place = await self._look(place, BATCH)
            found += number
            if place[1] is None:
                break
        return found

    async def _look(
        self, place: tuple[datetime | None, int | None], batch: int
    ) -> tuple[int, tuple[datetime | None, int | None]]:
        (row,) = await self._connection.call(self._function, *place, batch)
        return row["found"], (row["last_run_at"], row["last_id"])
