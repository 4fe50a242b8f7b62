"""Rings for the process that listens and claims with nothing else in it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import IO

import psutil

from benchmarks.narrow import RING, TABLE
from benchmarks.server import ROOT, Connection


class Bell:
    """Rings, and reads when it was answered. `memory_mb` is what the process at the other end takes."""

    def __init__(self, connection: Connection, answers: IO[str], memory_mb: float) -> None:
        self._connection = connection
        self._answers = answers
        self.memory_mb = memory_mb
        self.waits: list[float] = []

    async def ring(self) -> None:
        """Insert and notify in one statement; append the seconds from its commit to the answered claim to `waits`."""
        job_id = await self._connection.fetchval(RING)
        committed = time.time()
        answered_id, answered = (await asyncio.to_thread(self._answers.readline)).split()
        assert int(answered_id) == job_id
        self.waits.append(float(answered) - committed)


@asynccontextmanager
async def ringing(dsn: str, connection: Connection) -> AsyncGenerator[Bell]:
    """A bell with somebody at the other end, in a process of their own."""
    await connection.execute(TABLE)
    command = [sys.executable, "-m", "benchmarks.answering", dsn]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: ASYNC220
        try:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
            yield Bell(connection, process.stdout, psutil.Process(process.pid).memory_info().rss / 1e6)
        finally:
            process.kill()
