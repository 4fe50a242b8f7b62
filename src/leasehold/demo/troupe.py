"""The processes of a demo, each an ordinary `leasehold …` command, told by its environment what to do."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import msgspec
import trio

from leasehold.errors import LeaseholdError

T = TypeVar("T")

LEASE_SECONDS = 4.0
DRAIN_SECONDS = 8.0
ABORT_SECONDS = 0.5
INTERRUPT_SECONDS = 4.0
PATIENCE_SECONDS = 45.0
ANSWER_SECONDS = 10.0
LOOK_SECONDS = 0.1
TAIL_LINES = 12
COMMANDS: Mapping[str, Sequence[str]] = {
    "gateway": ["gateway"],
    "scheduler": ["run", "scheduler"],
    "reaper": ["run", "reaper"],
}
TOLD: Mapping[str, object] = {
    "APP": "leasehold.demo.stdlib_census:app",
    "SLOTS": 3,
    # Short times for a short show.
    "LEASE_SECONDS": LEASE_SECONDS,
    "RENEW_SECONDS": 1.3,
    "POLL_SECONDS": 1,
    "HEARTBEAT_SECONDS": 1,
    "DRAIN_SECONDS": DRAIN_SECONDS,
    # The census is meant to keep every processor busy.
    "CPU_BACKOFF": 1,
    "MEMORY_BACKOFF": 1,
    "LOG_LEVEL": "info",
    "LOG_FORMAT": "text",
    "GATEWAY_HOST": "127.0.0.1",
}
WITHOUT_PROXY = build_opener(ProxyHandler({}))

PlayerState = Literal["alive", "killed", "ended"]


class DemoFailed(LeaseholdError):
    """The demo could not go on."""


class Player(msgspec.Struct):
    """One process; `name` is also the worker's id."""

    name: str
    process: trio.Process
    log: Path
    is_killed: bool = False

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    @property
    def state(self) -> PlayerState:
        return "alive" if self.is_alive else "killed" if self.is_killed else "ended"

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.is_killed = True
        self.process.kill()
        await self.process.wait()


class Troupe:
    """All processes. They end when `stop` is called, or with us however we end. `logs` is a folder to be made."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        logs.mkdir()
        self.players: dict[str, Player] = {}

    @property
    def workers(self) -> list[Player]:
        return [player for player in self.players.values() if player.name not in COMMANDS]

    async def start(self, name: str, environ: Mapping[str, str]) -> None:
        """Start the process of this name; what has no other name is a worker."""
        log = self._logs / f"{name}.log"
        with log.open("wb") as output:
            process = await trio.lowlevel.open_process(
                [sys.executable, "-m", "leasehold", *COMMANDS.get(name, ["run", "worker"]), "--with-parent"],
                # A session of its own: Ctrl-C reaches us alone. An open standard input: it ends when we do.
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environ, "LEASEHOLD_WORKER_ID": name},
                start_new_session=True,
            )
        self.players[name] = Player(name, process, log)

    async def until(self, what: str, holds: Callable[[], Awaitable[T]]) -> T:
        """Call `holds` until its answer is true, and return it. Raises DemoFailed after 45 s, or if a process has ended."""
        with trio.move_on_after(PATIENCE_SECONDS):
            while not (answer := await holds()):
                self.check()
                await trio.sleep(LOOK_SECONDS)
            return answer
        raise DemoFailed(f"waited {PATIENCE_SECONDS:g} s in vain for {what}")

    def check(self) -> None:
        """Raises DemoFailed if a process has ended that nobody killed."""
        for player in self.players.values():
            if player.state == "ended":
                code = player.process.poll() or 0
                end = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
                tail = player.log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
                last_lines = "\n".join(f"  {line}" for line in tail)
                raise DemoFailed(f"{player.name} ended ({end}); its last lines:\n{last_lines}")

    async def stop(self, drain_seconds: float, interrupt_seconds: float = INTERRUPT_SECONDS) -> list[str]:
        """Let all drain for some seconds, then interrupt them, then kill them; returns those that did not end well."""
        # The first SIGTERM drains a process, the second ends what still runs in it.
        for seconds in (drain_seconds, interrupt_seconds):
            for player in self._alive():
                player.process.terminate()
            with trio.move_on_after(seconds):
                for player in self._alive():
                    await player.process.wait()
        unhurt = [player for player in self.players.values() if not player.is_killed]
        for player in self._alive():
            await player.kill()
        for player in self.players.values():
            if player.process.stdin is not None:
                await player.process.stdin.aclose()
        return [player.name for player in unhurt if player.process.returncode != 0]

    def _alive(self) -> list[Player]:
        return [player for player in self.players.values() if player.is_alive]


@asynccontextmanager
async def open_troupe(logs: Path) -> AsyncGenerator[Troupe]:
    """A troupe whose processes are gone when the block ends, however it ends."""
    troupe = Troupe(logs)
    try:
        yield troupe
    finally:
        with trio.CancelScope(shield=True):
            await troupe.stop(ABORT_SECONDS, ABORT_SECONDS)


def plan_environment(dsn: str, queue: str, port: int) -> dict[str, str]:
    """What all processes are told. An empty `dsn` leaves the PG… variables in charge."""
    told = {**TOLD, "QUEUES": queue, "GATEWAY_PORT": port, **({"DATABASE_URL": dsn} if dsn else {})}
    return {**os.environ, "PYTHONUNBUFFERED": "1", **{f"LEASEHOLD_{name}": str(value) for name, value in told.items()}}


def ask_gateway(port: int, path: str, token: str | None = None, job: Mapping[str, Any] | None = None) -> bytes:
    """Ask the gateway of this machine, or have it enqueue a job. Blocks. Raises DemoFailed."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = Request(f"http://127.0.0.1:{port}{path}", msgspec.json.encode(job) if job else None, headers)
    try:
        with WITHOUT_PROXY.open(request, timeout=ANSWER_SECONDS) as response:
            return response.read()
    except HTTPError as error:
        raise DemoFailed(f"the gateway answers {path} with {error.code}: {error.read()!r}") from error
    except (OSError, HTTPException) as error:
        raise DemoFailed(f"the gateway at {request.full_url} does not answer: {error!r}") from error


async def is_ready(port: int) -> bool:
    """Whether the gateway says so."""
    try:
        await trio.to_thread.run_sync(ask_gateway, port, "/readyz")
    except DemoFailed:
        return False
    return True


def free_port() -> int:
    """A port of the loopback interface that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
