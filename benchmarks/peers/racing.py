"""One contestant in one round: a fresh database, its own program, the same measurements for all."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import msgspec
import psutil

from benchmarks.figures import Spread
from benchmarks.peers.contestants import Contestant
from benchmarks.server import ROOT, Connection, Server, connected

PATIENCE_SECONDS = 300.0
COMMITS = "select xact_commit from pg_stat_database where datname = current_database()"


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs and seconds each measurement takes."""

    drained: int
    singles: int
    pings: int
    idle_seconds: float


class Race:
    """Measures one contestant on one database."""

    def __init__(self, server: Server, contestant: Contestant, command: Sequence[str], dsn: str) -> None:
        self._server = server
        self._contestant = contestant
        self._command = command
        self._dsn = dsn
        self.figures: dict[str, float] = {}
        self._said: list[str] = []

    async def run(self, effort: Effort) -> dict[str, float]:
        """All figures of one round."""
        await self._act("prepare")
        await self._enqueue("single", effort.singles, 1)
        await self._enqueue("ten", effort.singles * 3, 10)
        async with connected(self._dsn) as connection:
            async with self._working(1):
                await self._until_empty(connection, started=False)
                await self._act("ping", effort.pings)
            self._read_waits()
            async with self._working(1) as workers:
                await self._idle(connection, workers[0], effort.idle_seconds)
            count = max(1_000, int(effort.drained * self._contestant.share))
            for processes in (1, 2):
                bulk = await self._act("bulk", count)
                self.figures["bulk"] = count / bulk["seconds"]
                await self._drain(connection, processes, count)
        return self.figures

    async def _act(self, action: str, count: int = 0, tasks: int = 1) -> dict[str, float]:
        command = [*self._command, self._dsn, action, str(count), str(tasks)]
        cpu = self._server.cpu_seconds()
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        said: dict[str, float] = json.loads(lines[-1]) if lines else {}
        return said | {"postgres": self._server.cpu_seconds() - cpu}

    async def _enqueue(self, name: str, count: int, tasks: int) -> None:
        spent = await self._act("enqueue", count, tasks)
        self.figures[name] = count / spent["seconds"]
        self.figures[f"{name} postgres"] = spent["postgres"] / count * 1e6
        self.figures[f"{name} client"] = spent["cpu"] / count * 1e6

    @asynccontextmanager
    async def _working(self, processes: int) -> AsyncGenerator[list[subprocess.Popen[str]]]:
        command = [*self._command, self._dsn, "work"]
        workers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(processes)]  # noqa: ASYNC220
        self._said = []
        try:
            yield workers
        finally:
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
            for worker in workers:
                try:
                    said, _ = await asyncio.to_thread(worker.communicate, timeout=10)
                except subprocess.TimeoutExpired:
                    worker.kill()
                    said, _ = await asyncio.to_thread(worker.communicate)
                self._said += said.splitlines()

    def _read_waits(self) -> None:
        waits = [float(line) for line in self._said if line.replace(".", "", 1).isdigit()]
        if waits:
            spread = Spread.of([each / 1000 for each in waits])
            self.figures |= {"pickup p50": spread.p50, "pickup p99": spread.p99}

    async def _until_empty(self, connection: Connection, *, started: bool) -> float:
        """Seconds from the first finished job that is seen to the last; `started`: wait for the first."""
        before = await connection.fetchval(self._contestant.left)
        left, began, until = before, time.perf_counter(), time.perf_counter() + PATIENCE_SECONDS
        while time.perf_counter() < until:
            left = await connection.fetchval(self._contestant.left)
            if left == 0:
                return time.perf_counter() - began
            if started and left == before:
                began = time.perf_counter()
            await asyncio.sleep(0.02)
        raise TimeoutError(f"{self._contestant.name} has {left} jobs left")

    async def _drain(self, connection: Connection, processes: int, count: int) -> None:
        cpu = self._server.cpu_seconds()
        async with self._working(processes):
            seconds = await self._until_empty(connection, started=True)
        self.figures[f"drain {processes}"] = count / seconds
        self.figures["drain cpu"] = (self._server.cpu_seconds() - cpu) / count * 1e6

    async def _idle(self, connection: Connection, worker: subprocess.Popen[str], seconds: float) -> None:
        await asyncio.sleep(5)
        process = psutil.Process(worker.pid)
        commits, times, began = await connection.fetchval(COMMITS), process.cpu_times(), time.perf_counter()
        await asyncio.sleep(seconds)
        spent = process.cpu_times()
        took = time.perf_counter() - began
        self.figures["idle cpu"] = (spent.user + spent.system - times.user - times.system) / took * 100
        self.figures["idle statements"] = (await connection.fetchval(COMMITS) - commits - 1) / took
