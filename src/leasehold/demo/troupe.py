"""The processes of a demo, each an ordinary `leasehold …` command, told by its environment what to do; and an HTTP producer."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
import trio

from leasehold.demo.place import DemoFailed

LEASE_SECONDS = 4.0
DRAIN_SECONDS = 8.0
ABORT_SECONDS = 0.5
INTERRUPT_SECONDS = 4.0
TAIL_LINES = 12
COMMANDS: Mapping[str, Sequence[str]] = {
    "gateway": ["gateway"],
    "scheduler": ["run", "scheduler"],
    "reaper": ["run", "reaper"],
}

PlayerState = Literal["alive", "killed", "ended"]

ANSWER_SECONDS = 10.0
PAUSE_SECONDS = 0.01


class Player:
    """One process; `name` is also the worker's id."""

    def __init__(self, name: str, process: trio.Process, log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log
        self.is_killed = False

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
        command = [sys.executable, "-m", "leasehold", *COMMANDS.get(name, ["run", "worker"]), "--with-parent"]
        log = self._logs / f"{name}.log"
        with log.open("wb") as output:
            process = await trio.lowlevel.open_process(
                command,
                # A session of its own: Ctrl-C reaches us alone. An open standard input: it ends when we do.
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environ, "LEASEHOLD_WORKER_ID": name},
                start_new_session=True,
            )
        self.players[name] = Player(name, process, log)

    def check(self) -> None:
        """Raises DemoFailed if a process has ended that nobody killed."""
        for player in self.players.values():
            if not player.is_alive and not player.is_killed:
                end = describe_end(player.process.returncode)
                raise DemoFailed(f"{player.name} ended ({end}); its last lines:\n{tail(player.log)}")

    async def stop(self, drain_seconds: float, interrupt_seconds: float = INTERRUPT_SECONDS) -> list[str]:
        """Let all drain for some seconds, then interrupt them, then kill them; returns those that did not end well."""
        # The first SIGTERM drains a process, the second ends what still runs in it.
        for seconds in (drain_seconds, interrupt_seconds):
            for player in self._alive():
                player.process.terminate()
            with trio.move_on_after(seconds):
                for player in self._alive():
                    await player.process.wait()
        too_slow = self._alive()
        for player in too_slow:
            await player.kill()
        for player in self.players.values():
            if player.process.stdin is not None:
                await player.process.stdin.aclose()
        ended = [player for player in self.players.values() if not player.is_killed]
        return [player.name for player in (*too_slow, *ended) if player.process.returncode != 0]

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


def plan_environment(dsn: str, queue: str, port: int, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """What all processes are told. Short times for a short show; an empty `dsn` leaves the PG… variables in charge."""
    told = {
        "DATABASE_URL": dsn,
        "APP": "leasehold.demo.stdlib_census:app",
        "QUEUES": queue,
        "SLOTS": "3",
        "LEASE_SECONDS": str(LEASE_SECONDS),
        "RENEW_SECONDS": "1.3",
        "POLL_SECONDS": "1",
        "HEARTBEAT_SECONDS": "1",
        "DRAIN_SECONDS": str(DRAIN_SECONDS),
        # The census is meant to keep every processor busy.
        "CPU_BACKOFF": "1",
        "MEMORY_BACKOFF": "1",
        "LOG_LEVEL": "info",
        "LOG_FORMAT": "text",
        "GATEWAY_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
    }
    return {
        **(os.environ if given is None else given),
        "PYTHONUNBUFFERED": "1",
        **{f"LEASEHOLD_{name}": value for name, value in told.items() if value},
    }


def tail(log: Path) -> str:
    """The last lines of a log, indented."""
    lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
    return "\n".join(f"  {line}" for line in lines)


def describe_end(code: int | None) -> str:
    """`exit code 1` or `SIGKILL`."""
    return f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name


class Answer(msgspec.Struct):
    """Of what the gateway answers, the part that matters here."""

    id: int
    state: str | None = None


class HttpProducer:
    """Talks to the gateway. Blocking calls run in a thread."""

    def __init__(self, port: int, token: str | None) -> None:
        self._port = port
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self.dashboard = f"http://127.0.0.1:{port}/"
        self.url = f"{self.dashboard}api/jobs"

    async def is_ready(self) -> bool:
        """Whether `/readyz` says so."""
        return await trio.to_thread.run_sync(self._is_ready)

    async def enqueue(self, job: Mapping[str, Any]) -> int:
        """POST a job; returns its id. Raises DemoFailed."""
        return (await trio.to_thread.run_sync(self._enqueue, job, 1))[0]

    async def enqueue_in_turn(self, job: Mapping[str, Any], times: int) -> list[int]:
        """POST it this many times, each after the last answer; returns the ids. Raises DemoFailed."""
        return await trio.to_thread.run_sync(self._enqueue, job, times)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/readyz", headers=self._headers)
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def _enqueue(self, job: Mapping[str, Any], times: int) -> list[int]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_SECONDS)
        body = msgspec.json.encode(job)
        ids: list[int] = []
        try:
            for _ in range(times):
                if ids:
                    self._await_end(connection, ids[-1])
                ids.append(self._ask(connection, "POST", "/api/jobs", body).id)
        except (OSError, http.client.HTTPException) as error:
            raise DemoFailed(f"the gateway at {self.url} does not answer: {error!r}") from error
        finally:
            connection.close()
        return ids

    def _await_end(self, connection: http.client.HTTPConnection, job_id: int) -> None:
        deadline = time.monotonic() + ANSWER_SECONDS
        while self._ask(connection, "GET", f"/api/jobs/{job_id}").state != "completed":
            if time.monotonic() > deadline:
                raise DemoFailed(f"job {job_id} was not completed within {ANSWER_SECONDS:g} s")
            trio.from_thread.check_cancelled()
            time.sleep(PAUSE_SECONDS)

    def _ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None) -> Answer:
        connection.request(method, path, body, self._headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            raise DemoFailed(f"the gateway answers {method} {path} with {response.status}: {answer!r}")
        return msgspec.json.decode(answer, type=Answer)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
