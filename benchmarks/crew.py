"""Many whole workers in one process: `python -m benchmarks.crew DSN COUNT PREFIX`. Ended by a signal."""

from __future__ import annotations

import signal
import sys
from contextlib import AsyncExitStack

import trio

from benchmarks.handlers import app
from leasehold.actors.process import Process
from leasehold.actors.supervise import supervise
from leasehold.actors.worker.worker import Worker
from leasehold.database import Database, open_database
from leasehold.notify.listener import Listener
from leasehold.settings import Settings


async def run(dsn: str, count: int, prefix: str) -> None:
    """So many workers with the settings that users get, but for the back-off of a machine that is measured."""
    settings = Settings(database_url=dsn, memory_backoff=1.0, cpu_backoff=1.0)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(dsn, application_name=prefix))
        nursery = await stack.enter_async_context(trio.open_nursery())
        workers = [await _start(stack, nursery, database, settings, f"{prefix}-{number}") for number in range(count)]
        with trio.open_signal_receiver(signal.SIGTERM) as signals:
            await anext(signals)
        for worker in workers:
            worker.interrupt()
        with trio.move_on_after(5):
            for worker in workers:
                await worker.ended.wait()
        nursery.cancel_scope.cancel()


class CrewWorker(Worker):
    """Knows when it has ended."""

    ended: trio.Event


async def _start(
    stack: AsyncExitStack, nursery: trio.Nursery, database: Database, settings: Settings, worker_id: str
) -> CrewWorker:
    connections = (
        await stack.enter_async_context(database.reserve("dispatcher")),
        await stack.enter_async_context(database.reserve("settler")),
    )
    process = Process(database, settings, app)
    worker = CrewWorker(process, connections, worker_id)

    worker.ended = trio.Event()

    async def work() -> None:
        await supervise(worker)
        worker.ended.set()

    nursery.start_soon(supervise, Listener(database, process.switchboard))
    nursery.start_soon(work)
    return worker


if __name__ == "__main__":
    trio.run(run, sys.argv[1], int(sys.argv[2]), sys.argv[3])
