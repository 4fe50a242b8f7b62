"""Procrastinate, over psycopg 3."""

# It runs in an environment of its own, whose packages are not here.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys
import time

import procrastinate


async def act(noop, action: str, count: int, tasks: int) -> None:
    if action == "bulk":
        for _ in range(count // 1000):
            await noop.batch_defer_async(*([{}] * 1000))
    elif action == "ping":
        for _ in range(count):
            await noop.defer_async(at=time.time())
            await asyncio.sleep(0.05)
    else:

        async def some() -> None:
            for _ in range(count // tasks):
                await noop.defer_async()

        await asyncio.gather(*(some() for _ in range(tasks)))


async def main(dsn: str, action: str, count: int, tasks: int) -> None:
    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(conninfo=dsn, min_size=tasks, max_size=max(tasks, 10))
    )

    @app.task(name="noop")
    async def noop(at: float | None = None) -> None:
        if at is not None:
            print((time.time() - at) * 1000, flush=True)

    async with app.open_async():
        if action == "prepare":
            await app.schema_manager.apply_schema_async()
        elif action == "work":
            await app.run_worker_async(concurrency=30, delete_jobs="successful")
        else:
            started, cpu = time.perf_counter(), time.process_time()
            await act(noop, action, count, tasks)
            print(json.dumps({"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}))


given = [*sys.argv[1:], "0", "1"][:4]
asyncio.run(main(given[0], given[1], int(given[2]), int(given[3])))
