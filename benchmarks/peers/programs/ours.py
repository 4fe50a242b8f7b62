"""leasehold."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

from leasehold import App, Client, NewJob, open_client

app = App()


@app.kind()
async def noop(at: float | None = None) -> None:
    """Do nothing, or tell how long it took to get here."""
    if at is not None:
        print((time.time() - at) * 1000, flush=True)


async def act(client: Client, action: str, count: int, tasks: int) -> None:
    """Enqueue."""
    if action == "bulk":
        for _ in range(count // 1000):
            await client.enqueue_many([NewJob(kind="noop", args={})] * 1000)
    elif action == "ping":
        for _ in range(count):
            await client.enqueue("noop", {"at": time.time()})
            await asyncio.sleep(0.05)
    else:

        async def some() -> None:
            for _ in range(count // tasks):
                await client.enqueue("noop", {})

        await asyncio.gather(*(some() for _ in range(tasks)))


async def main(dsn: str, action: str, count: int, tasks: int) -> None:
    """Warm up, then measure."""
    async with open_client(dsn) as client:
        await client.ping()
        started, cpu = time.perf_counter(), time.process_time()
        await act(client, action, count, tasks)
        print(json.dumps({"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}))


if __name__ == "__main__":
    dsn, action, count, tasks = [*sys.argv[1:], "0", "1"][:4]
    if action == "work":
        os.environ |= {"LEASEHOLD_DATABASE_URL": dsn, "LEASEHOLD_LOG_LEVEL": "warning"}
        os.environ |= {"LEASEHOLD_CPU_BACKOFF": "1", "LEASEHOLD_MEMORY_BACKOFF": "1"}
        app_path = "benchmarks.peers.programs.ours:app"
        os.execv(sys.executable, [sys.executable, "-m", "leasehold", "run", "worker", "--app", app_path])
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(main(dsn, action, int(count), int(tasks)))
