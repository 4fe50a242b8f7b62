"""What the examples share: a database, real worker processes, and the checks at the end. Nothing here is meant to be copied."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import trio

from leasehold import App, Client, open_client
from leasehold.database.migrations import migrate
from leasehold.demo.place import Place, open_place
from leasehold.demo.troupe import Troupe, open_troupe
from leasehold.settings import load_settings

DRAIN_SECONDS = 5.0
LEASE_SECONDS = 3.0


class Backstage:
    """A running example: its database, processes and checks."""

    def __init__(self, place: Place, troupe: Troupe, client: Client, app: str, started: float) -> None:
        self.place = place
        self.troupe = troupe
        self.client = client
        self._started = started
        self._failed = 0
        self.until = troupe.until
        self.environ = {
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            "LEASEHOLD_DATABASE_URL": place.dsn,
            "LEASEHOLD_DIRECT_DATABASE_URL": place.direct_dsn,
            "LEASEHOLD_APP": app,
            "LEASEHOLD_LEASE_SECONDS": f"{LEASE_SECONDS:g}",
            "LEASEHOLD_POLL_SECONDS": "1",
            "LEASEHOLD_HEARTBEAT_SECONDS": "1",
            "LEASEHOLD_CPU_BACKOFF": "1",
            "LEASEHOLD_MEMORY_BACKOFF": "1",
            "LEASEHOLD_LOG_FORMAT": "text",
            "LEASEHOLD_LOG_LEVEL": "info",  # the gateway says there where it serves
        }

    def say(self, text: str) -> None:
        """Print a line with the seconds since the start."""
        print(f"{time.monotonic() - self._started:5.1f} s  {text}", flush=True)

    def check(self, promise: str, found: object, expected: object) -> None:
        """Print what was found, and what was expected if that differs; then the example fails."""
        kept = found == expected
        self._failed += not kept
        print(f"  {'✓' if kept else '✗'} {promise}: {found}" + ("" if kept else f", expected {expected}"), flush=True)

    @property
    def passed(self) -> bool:
        return not self._failed

    async def start(self, *names: str, queues: Sequence[str] = (), slots: int = 3) -> None:
        """Start processes: `gateway`, `scheduler`, `reaper`; any other name is a worker. Returns when the workers are ready."""
        told = {"LEASEHOLD_QUEUES": ",".join(queues), "LEASEHOLD_SLOTS": str(slots)}
        for name in names:
            await self.troupe.start(name, {**self.environ, **told})
        workers = {player.name for player in self.troupe.workers if player.is_alive}

        async def are_ready() -> bool:
            return workers <= {
                worker.worker_id for worker in await self.client.workers.list() if worker.state == "ready"
            }

        await self.until("the workers to be ready", are_ready)


@asynccontextmanager
async def open_backstage(app: App, name: str) -> AsyncGenerator[Backstage]:
    """A stage with LEASEHOLD_DATABASE_URL or embedded Postgres, migrated. `name` is the app for worker processes."""
    started = time.monotonic()
    async with open_place(load_settings({}, os.environ)) as place:
        await migrate(place.dsn)
        async with (
            open_troupe(place.folder / "logs") as troupe,
            open_client(place.dsn, app=app, payloads=str(place.folder / "payloads")) as client,
        ):
            stage = Backstage(place, troupe, client, name, started)
            stage.say(f"Postgres is ready: {place.description}")
            try:
                yield stage
            except Exception:
                place.keeps_logs = True
                stage.say(f"the logs of all processes are in {place.folder}")
                raise
            await troupe.stop(DRAIN_SECONDS)


def show(app: App, name: str, perform: Callable[[Backstage], Awaitable[None]]) -> None:
    """Run an example and exit: with 1 if a check fails, or if nothing happened for too long."""

    async def main() -> bool:
        async with trio.open_nursery() as nursery:
            await nursery.start(_end_on_signal, nursery.cancel_scope)
            async with open_backstage(app, name) as stage:
                await perform(stage)
            nursery.cancel_scope.cancel()
            return stage.passed
        return False

    passed = trio.run(main)
    print("passed" if passed else "FAILED")
    sys.exit(not passed)


async def _end_on_signal(scope: trio.CancelScope, task_status: trio.TaskStatus[None]) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()
