"""What it costs to have nothing to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

import msgspec

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.processes import Process, running, running_worker
from benchmarks.readings import count_transactions
from benchmarks.server import Connection, Server, connected

SIZES = {"full": (20.0, 60.0), "quick": (4.0, 5.0), "tiny": (0.5, 0.5)}


class Idleness(msgspec.Struct, frozen=True, kw_only=True):
    """One installation with nothing to do. CPU is a share of one core; a statement is a transaction here."""

    statements_per_second: float
    cpu_percent: Mapping[str, float]
    memory_mb: Mapping[str, float]


class IdleResult(Result, frozen=True, kw_only=True):
    """One worker, one scheduler, one reaper, a process each; and a worker with nobody beside it."""

    seconds: float
    alone: Idleness
    listening: Idleness
    deaf: Idleness


class Installation:
    """The processes on one database."""

    def __init__(self, dsn: str, processes: Mapping[str, Process]) -> None:
        self._dsn = dsn
        self._processes = processes
        self._start = (0.0, 0, dict.fromkeys(processes, 0.0))

    async def _read(self, admin: Connection) -> tuple[float, int, dict[str, float]]:
        cpu = {name: process.cpu_seconds() for name, process in self._processes.items()}
        return time.monotonic(), await count_transactions(admin, self._dsn), cpu

    async def start(self, admin: Connection) -> None:
        """From here. `admin` is connected to another database, so that its statements do not count."""
        self._start = await self._read(admin)

    async def stop(self, admin: Connection) -> Idleness:
        """To here."""
        started, statements_before, cpu_before = self._start
        now, statements, cpu = await self._read(admin)
        return Idleness(
            statements_per_second=(statements - statements_before) / (now - started),
            cpu_percent={name: (cpu[name] - cpu_before[name]) / (now - started) * 100 for name in cpu},
            memory_mb={name: process.memory_mb() for name, process in self._processes.items()},
        )


async def measure(server: Server, size: Size, say: Say) -> IdleResult:
    """A worker alone, and all three with and without notifications, at the same time, each on its own database."""
    settle, seconds = SIZES[size]
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(connected(server.dsn))
        dsn = await stack.enter_async_context(server.database())
        worker = Installation(dsn, {"worker": await stack.enter_async_context(running_worker(dsn))})
        installed = [worker, await _install(stack, server), await _install(stack, server, "--notify", "off")]
        say(f"waiting {settle:g} s for the polling to slow down")
        await asyncio.sleep(settle)
        for each in installed:
            await each.start(admin)
        say(f"watching for {seconds:g} s")
        await asyncio.sleep(seconds)
        alone, listening, deaf = [await each.stop(admin) for each in installed]
    return IdleResult(
        figures=[
            *_figures("idle, a worker alone", alone),
            *_figures("idle", listening),
            *_figures("idle, notifications off", deaf),
        ],
        seconds=seconds,
        alone=alone,
        listening=listening,
        deaf=deaf,
    )


async def _install(stack: AsyncExitStack, server: Server, *options: str) -> Installation:
    dsn = await stack.enter_async_context(server.database())
    processes = {
        "worker": await stack.enter_async_context(running_worker(dsn, *options)),
        "scheduler": await stack.enter_async_context(running(dsn, "run", "scheduler", *options)),
        "reaper": await stack.enter_async_context(running(dsn, "run", "reaper", *options)),
    }
    return Installation(dsn, processes)


def _figures(name: str, idleness: Idleness) -> Sequence[Figure]:
    whose = " of all three" if len(idleness.cpu_percent) > 1 else ""
    return [
        Figure(name=f"{name}: statements{whose}", value=idleness.statements_per_second, unit="/s"),
        *(
            Figure(name=f"{name}: CPU of the {actor}", value=percent, unit="% of a core")
            for actor, percent in idleness.cpu_percent.items()
        ),
        Figure(name=f"{name}: memory of the worker", value=idleness.memory_mb["worker"], unit="MB", at_most=60),
    ]
