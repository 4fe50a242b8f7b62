"""PgQueuer, over asyncpg with uvloop."""

# It runs in an environment of its own, whose packages are not here.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.queries import Queries


async def act(queries: Any, action: str, count: int, tasks: int) -> None:
    if action == "bulk":
        for _ in range(count // 1000):
            await queries.enqueue(["noop"] * 1000, [b"{}"] * 1000, [0] * 1000)
    elif action == "ping":
        for _ in range(count):
            await queries.enqueue("noop", json.dumps({"at": time.time()}).encode())
            await asyncio.sleep(0.05)
    else:

        async def some() -> None:
            for _ in range(count // tasks):
                await queries.enqueue("noop", b"{}")

        await asyncio.gather(*(some() for _ in range(tasks)))


async def work(dsn: str) -> None:
    queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(dsn)))

    @queue.entrypoint("noop")
    async def noop(job: Any) -> None:
        if at := json.loads(job.payload).get("at"):
            print((time.time() - at) * 1000, flush=True)

    await queue.run(batch_size=500)


async def main(dsn: str, action: str, count: int, tasks: int) -> None:
    if action == "work":
        await work(dsn)
        return
    driver = AsyncpgDriver(await asyncpg.connect(dsn))
    if tasks > 1:
        driver = AsyncpgPoolDriver(await asyncpg.create_pool(dsn, min_size=tasks, max_size=tasks))
    queries = Queries(driver)
    if action == "prepare":
        await queries.install()
        return
    started, cpu = time.perf_counter(), time.process_time()
    await act(queries, action, count, tasks)
    print(json.dumps({"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}))


given = [*sys.argv[1:], "0", "1"][:4]
uvloop.run(main(given[0], given[1], int(given[2]), int(given[3])))
