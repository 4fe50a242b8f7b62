"""The floor of picking up a job: a process that listens and claims, with nothing else in it, and who rings for it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import IO

from benchmarks.filling import NARROW
from benchmarks.floors import NARROW_CLAIM
from benchmarks.server import ROOT, Connection, connected, run

CHANNEL = "bell"
RING = f"with new as (insert into narrow (args) values ('{{}}') returning id) select id, pg_notify('{CHANNEL}', '') from new"


class Bell:
    """Rings, and reads when it was answered."""

    def __init__(self, connection: Connection, answers: IO[str]) -> None:
        self._connection = connection
        self._answers = answers
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
    await connection.execute(NARROW)
    command = [sys.executable, "-m", "benchmarks.bell", dsn]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: ASYNC220
        try:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
            yield Bell(connection, process.stdout)
        finally:
            process.kill()


async def answer(dsn: str) -> None:
    """Print `ready`, then the id of each job and the time at which its claim was answered; until killed."""
    rung = asyncio.Event()
    async with connected(dsn) as listening, connected(dsn) as connection:
        await listening.add_listener(CHANNEL, lambda *_: rung.set())
        await connection.fetch(NARROW_CLAIM, 1)
        print("ready", flush=True)
        while True:
            await rung.wait()
            rung.clear()
            for row in await connection.fetch(NARROW_CLAIM, 1):
                print(row["id"], time.time(), flush=True)


if __name__ == "__main__":
    run(answer(sys.argv[1]))
