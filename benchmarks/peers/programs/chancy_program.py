"""Chancy, over psycopg 3."""

# It runs in an environment of its own, whose packages are not here.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time

from chancy import Chancy, Job, Queue, Worker


async def noop(at: float | None = None) -> None:
    if at is not None:
        print((time.time() - at) * 1000, flush=True)


JOB = Job.from_func(noop)


async def act(app: Chancy, action: str, count: int, tasks: int) -> None:
    if action == "bulk":
        async for _ in app.push_many([JOB] * count, batch_size=1000):
            pass
    elif action == "ping":
        for _ in range(count):
            await app.push(JOB.with_kwargs(at=time.time()))
            await asyncio.sleep(0.05)
    else:

        async def some() -> None:
            for _ in range(count // tasks):
                await app.push(JOB)

        await asyncio.gather(*(some() for _ in range(tasks)))


async def main(dsn: str, action: str, count: int, tasks: int) -> None:
    quiet = logging.getLogger("chancy")
    quiet.setLevel(logging.WARNING)
    most = max(tasks, 10)
    async with Chancy(dsn, min_connection_pool_size=tasks, max_connection_pool_size=most, log=quiet) as app:
        if action == "prepare":
            await app.migrate()
            queue = Queue("default", concurrency=100, executor=Chancy.Executor.Async, eager_polling=True)
            await app.declare(queue, upsert=True)
        elif action == "work":
            async with Worker(app, shutdown_timeout=5) as worker:
                await worker.wait_for_shutdown()
        else:
            started, cpu = time.perf_counter(), time.process_time()
            await act(app, action, count, tasks)
            print(json.dumps({"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}))


given = [*sys.argv[1:], "0", "1"][:4]
if __name__ == "__main__":
    asyncio.run(main(given[0], given[1], int(given[2]), int(given[3])))
