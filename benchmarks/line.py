"""Jobs that wait to be claimed, and how long a claim takes."""

from __future__ import annotations

import time
from uuid import uuid4

from benchmarks import narrow
from benchmarks.filling import INSERT, QUEUE
from benchmarks.floors import CLAIM, Rows, complete, complete_narrow
from benchmarks.server import Connection


class Line:
    """Pending jobs of one database. With `refills`, as many are written after each claim as it took."""

    def __init__(self, connection: Connection, *, refills: bool = False) -> None:
        self._connection = connection
        self._refills = refills
        self._incarnation = uuid4()

    async def claim(self, batch: int) -> float:
        """Claim and complete; returns the seconds that the claim alone took."""
        started = time.perf_counter()
        rows = await self._claim(batch)
        seconds = time.perf_counter() - started
        assert len(rows) == batch
        await self._complete(rows)
        if self._refills:
            await self._connection.execute(INSERT, "noop", QUEUE, "{}", batch, 0)
        return seconds

    async def _claim(self, batch: int) -> Rows:
        return await self._connection.fetch(CLAIM, self._incarnation, [QUEUE], batch)

    async def _complete(self, rows: Rows) -> None:
        await complete(self._connection, self._incarnation, rows)


class NarrowLine(Line):
    """The same on the hand-written table."""

    async def _claim(self, batch: int) -> Rows:
        return await self._connection.fetch(narrow.CLAIM, batch)

    async def _complete(self, rows: Rows) -> None:
        await complete_narrow(self._connection, rows)
