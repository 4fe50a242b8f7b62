"""The processes of a demo, each an ordinary `leasehold …` command, told by its environment what to do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

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
COMMANDS = {"gateway": ["gateway"], "scheduler": ["run", "scheduler"], "reaper": ["run", "reaper"]}
SERVES = re.compile(r"gateway serves (http://\S+)")
SETTINGS = {
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
    "GATEWAY_PORT": 0,
}


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
    def state(self) -> Literal["alive", "killed", "ended"]:
        return "alive" if self.is_alive else "killed" if self.is_killed else "ended"

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.is_killed = True
        self.process.kill()
        await self.process.wait()


class Troupe:
    """All processes. They end when `stop` is called, or with us however we end. `logs` is a folder."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self.players: dict[str, Player] = {}

    @property
    def workers(self) -> list[Player]:
        return [player for player in self.players.values() if player.name not in COMMANDS]

    async def gateway_url(self) -> str | None:
        """Where the gateway says that it serves: its port may be one that it chose."""
        found = SERVES.search(self.players["gateway"].log.read_text(errors="replace"))
        return found and found[1]

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
                raise DemoFailed("\n  ".join([f"{player.name} ended ({end}); its last lines:", *tail]))

    async def stop(self, drain_seconds: float, interrupt_seconds: float = INTERRUPT_SECONDS) -> list[str]:
        """Let all drain for some seconds, then interrupt them, then kill them; returns those that did not end well."""
        unhurt = [player for player in self.players.values() if not player.is_killed]
        # The first SIGTERM drains a process, the second ends what still runs in it.
        for seconds in (drain_seconds, interrupt_seconds):
            alive = [player.process for player in unhurt if player.is_alive]
            for process in alive:
                process.terminate()
            with trio.move_on_after(seconds):
                for process in alive:
                    await process.wait()
        for player in self.players.values():
            if player.is_alive:
                await player.kill()
            if player.process.stdin is not None:
                await player.process.stdin.aclose()
        return [player.name for player in unhurt if player.process.returncode != 0]


@asynccontextmanager
async def open_troupe(logs: Path) -> AsyncGenerator[Troupe]:
    """A troupe whose processes are gone when the block ends, however it ends."""
    troupe = Troupe(logs)
    try:
        yield troupe
    finally:
        with trio.CancelScope(shield=True):
            await troupe.stop(ABORT_SECONDS, ABORT_SECONDS)


def plan_environment(dsn: str, direct_dsn: str, queue: str) -> dict[str, str]:
    """What all processes are told. An empty `dsn` leaves the PG… variables in charge."""
    settings = {
        **SETTINGS,
        "QUEUES": queue,
        **({"DATABASE_URL": dsn, "DIRECT_DATABASE_URL": direct_dsn} if dsn else {}),
    }
    return {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        **{f"LEASEHOLD_{name}": str(value) for name, value in settings.items()},
    }


def post_job(url: str, token: str | None, job: dict[str, Any]) -> int:
    """Enqueue over HTTP, past any proxy; returns the id. Blocks. Raises DemoFailed."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    connection = HTTPConnection(urlsplit(url).netloc, timeout=ANSWER_SECONDS)
    try:
        connection.request("POST", "/api/jobs", msgspec.json.encode(job), headers)
        response = connection.getresponse()
        body = response.read()
    except (OSError, HTTPException) as error:
        raise DemoFailed(f"the gateway at {url} does not answer: {error!r}") from error
    finally:
        connection.close()
    if response.status >= 400:
        raise DemoFailed(f"the gateway answers with {response.status}: {body!r}")
    return int(msgspec.json.decode(body)["id"])
