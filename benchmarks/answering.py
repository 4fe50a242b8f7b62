"""Listens and claims, with nothing else in it: `python -m benchmarks.answering DSN`. The floor of picking up a job."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import asyncpg

from benchmarks.narrow import CHANNEL, CLAIM

DRIVER: Any = asyncpg


async def answer(dsn: str) -> None:
    """Print `ready`, then the id of each job and the time at which its claim was answered; until killed."""
    rung = asyncio.Event()

    def ring(*_notification: object) -> None:
        rung.set()

    listening, connection = await DRIVER.connect(dsn), await DRIVER.connect(dsn)
    await listening.add_listener(CHANNEL, ring)
    await connection.fetch(CLAIM, 1)
    print("ready", flush=True)
    while True:
        await rung.wait()
        rung.clear()
        for row in await connection.fetch(CLAIM, 1):
            print(row["id"], time.time(), flush=True)


if __name__ == "__main__":
    asyncio.run(answer(sys.argv[1]))
