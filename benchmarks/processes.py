"""Real `leasehold` processes, and what they cost."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

import psutil

from benchmarks.server import ROOT, Connection, connected

PATIENCE_SECONDS = 60.0
FOREIGN = ("LEASEHOLD_", "PG", "DATABASE_URL", "WORKER_", "POLL_", "HEARTBEAT_", "MAX_CONCURRENT_", "BACKOFF_")


def clean_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without settings of leasehold or Postgres, then `env`.

    Who measures or tests keeps the machine busy, which is no reason for workers to hold back.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "LEASEHOLD_CPU_BACKOFF": "1", "LEASEHOLD_MEMORY_BACKOFF": "1", **(env or {})}


class Process:
    """`python -m leasehold ARGS…` on a database, `env` over its environment. `asked` counts our own statements while waiting
    for it."""

    def __init__(self, dsn: str, *args: str, env: Mapping[str, str] | None = None) -> None:
        self.asked = 0
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the process
        self._args = args
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "leasehold", *args],
            cwd=ROOT,
            env=clean_environment({"LEASEHOLD_DATABASE_URL": dsn, "LEASEHOLD_LOG_LEVEL": "warning", **(env or {})}),
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=subprocess.STDOUT,
        )
        self.pid = self._popen.pid
        self._process = psutil.Process(self.pid)

    def cpu_seconds(self) -> float:
        """User and system time so far."""
        times = self._process.cpu_times()
        return times.user + times.system

    def memory_mb(self) -> float:
        """Resident memory now, in millions of bytes."""
        return self._process.memory_info().rss / 1e6

    def check(self) -> None:
        """Raises RuntimeError, with what it said, if it has ended."""
        code = self._popen.poll()
        if code is not None:
            self._said.seek(0)
            said = self._said.read().decode(errors="replace")
            raise RuntimeError(f"`leasehold {' '.join(self._args)}` ended with exit code {code}:\n{said}")

    def kill(self) -> None:
        """SIGKILL."""
        self._popen.kill()
        self._popen.wait()

    async def stop(self) -> None:
        """SIGTERM; by force after a while."""
        self._popen.terminate()
        for _ in range(1000):
            if self._popen.poll() is not None:
                break
            await asyncio.sleep(0.02)
        else:
            self._popen.kill()
            self._popen.wait()
        self._said.close()


@asynccontextmanager
async def running(dsn: str, *args: str, env: Mapping[str, str] | None = None) -> AsyncGenerator[Process]:
    """A process, stopped with the block. It may not be ready yet."""
    process = Process(dsn, *args, env=env)
    try:
        yield process
    finally:
        await process.stop()


@asynccontextmanager
async def running_worker(dsn: str, *args: str) -> AsyncGenerator[Process]:
    """A worker that has found nothing to do yet and, unless told not to, listens."""
    is_deaf = "off" in args
    async with (
        running(dsn, "run", "worker", "--app", "benchmarks.handlers:app", *args) as process,
        connected(dsn) as connection,
    ):
        condition = "idle" if is_deaf else "idle and listening"
        question = f"select exists (select from leasehold.workers where pid = {process.pid} and {condition})"
        process.asked = await until(connection, question, process)
        yield process


@asynccontextmanager
async def running_gateway(dsn: str) -> AsyncGenerator[tuple[Process, str]]:
    """A gateway that answers, and its URL."""
    port = free_port()
    async with running(dsn, "gateway", "--port", str(port)) as process:
        await until_open(port, process.check)
        yield process, f"http://127.0.0.1:{port}"


def free_port() -> int:
    """A port that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def until_open(port: int, check: Callable[[], object] = lambda: None) -> None:
    """Until somebody listens there; `check` raises where nobody will."""
    for _ in range(int(PATIENCE_SECONDS / 0.05)):
        check()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise TimeoutError(f"nobody listens on port {port} after {PATIENCE_SECONDS:g} s")


async def until(
    connection: Connection,
    question: str,
    *processes: Process,
    seconds: float = PATIENCE_SECONDS,
    look: Callable[[], object] = lambda: None,
) -> int:
    """Ask every 50 ms until the answer is true; returns how often it was asked. Raises when a process ends meanwhile."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds
    asked = 1
    while not await connection.fetchval(question):
        for process in processes:
            process.check()
        if clock() > deadline:
            raise TimeoutError(f"still not so after {seconds:g} s: {question}")
        look()
        await asyncio.sleep(0.05)
        asked += 1
    return asked
