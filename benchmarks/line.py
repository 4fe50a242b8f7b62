"""Jobs that wait to be claimed, and how long a claim takes."""

from __future__ import annotations

import time
from uuid import uuid4

from benchmarks import narrow
from benchmarks.filling import INSERT, QUEUE
from benchmarks.floors import CLAIM, COMPLETE
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
        rows = await self._connection.fetch(CLAIM, self._incarnation, [QUEUE], batch)
        seconds = time.perf_counter() - started
        assert len(rows) == batch
        held = sorted((row["job_id"], row["attempt"]) for row in rows)
        ids, attempts = [i for i, _ in held], [a for _, a in held]
        await self._connection.fetch(COMPLETE, self._incarnation, ids, attempts, [None] * batch, [0.0] * batch)
        if self._refills:
            await self._connection.execute(INSERT, "noop", QUEUE, "{}", batch, 0)
        return seconds


class NarrowLine(Line):
    """The same on the hand-written table."""

    async def claim(self, batch: int) -> float:
        """Claim and complete; returns the seconds that the claim alone took."""
        started = time.perf_counter()
        rows = await self._connection.fetch(narrow.CLAIM, batch)
        seconds = time.perf_counter() - started
        assert len(rows) == batch
        held = sorted((row["id"], row["attempt"]) for row in rows)
        await self._connection.fetch(narrow.COMPLETE, [i for i, _ in held], [a for _, a in held])
        return seconds
