"""One process of the fleet, started again whenever it ends, as a process manager does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import trio

from benchmarks.processes import clean_environment
from benchmarks.server import ROOT
from faults.fleet.proxy import Proxy
from faults.fleet.server import DATABASE

COMPLAINTS = (
    "was never retrieved",
    "was never awaited",
    "internal error",
    "the books could not be kept, again in 10 s: Postgres refuses",
)
HANGS = "the lease keeper of process %s hangs from now on"
PAUSE = 0.2  # seconds before a process that has ended is started again


class Member:
    """`leasehold ARGS…` behind a proxy.

    Attributes:
        pid: of the present process; 0 before the first.
        exits: how earlier processes ended: pid, exit code, and whether we had ended them.
    """

    def __init__(self, name: str, args: list[str], env: Mapping[str, str], proxy: Proxy, folder: Path) -> None:
        self.name = name
        self.args = args
        self.env = dict(env)
        self.proxy = proxy
        self.log = folder / f"{name}.log"
        self.pid = 0
        self.exits: list[tuple[int, int, bool]] = []
        self._popen: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._is_ours = False
        self._is_over = False

    async def run(self) -> None:
        """Keep it running until cancelled."""
        while not self._is_over:
            process = self._start()
            while process.poll() is None:
                await trio.sleep(0.05)
            self.exits.append((process.pid, process.returncode, self._is_ours))
            await trio.sleep(PAUSE)

    def signal(self, number: signal.Signals) -> str:
        """Send a signal to the present process, if it lives; returns which it is."""
        if self._popen is not None and self._popen.poll() is None:
            self._is_ours = self._is_ours or number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
            self._popen.send_signal(number)
        return self.process

    def retire(self) -> None:
        """It is not started again."""
        self._is_over = True

    def end(self) -> None:
        """SIGKILL to it and all that it started, and no new one."""
        self.retire()
        if self._popen is not None and self._popen.poll() is None:
            os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()

    @property
    def process(self) -> str:
        """The present process, as its sessions name it."""
        return f"{self.name}.{self._number}"

    @property
    def is_alive(self) -> bool:
        """Whether a process runs now."""
        return self._popen is not None and self._popen.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Of the present process; None while it runs."""
        return self._popen.poll() if self._popen is not None else None

    @property
    def hangs(self) -> bool:
        """Whether the lease keeper of the present process was made to hang: no thread of it can end in order."""
        return self.log.exists() and HANGS % self.pid in self.log.read_text(errors="replace")

    def complaints(self) -> tuple[str, ...]:
        """Lines of its log that must not be there."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return tuple(line[:300] for line in text.splitlines() if any(word in line for word in COMPLAINTS))

    def _start(self) -> subprocess.Popen[bytes]:
        self._is_ours = False
        self._number += 1
        dsn = self.proxy.dsn(DATABASE, self.process)
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "leasehold", *self.args],
                cwd=ROOT,
                env=clean_environment({**self.env, "LEASEHOLD_DATABASE_URL": dsn, "PYTHONUNBUFFERED": "1"}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._popen.pid
        return self._popen
