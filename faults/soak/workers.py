"""The worker processes: started, killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil

SETTINGS = "faults.soak.settings"


def environment(dsn: str) -> Mapping[str, str]:
    """Of all processes of the project."""
    return {**os.environ, "SOAK_DSN": dsn, "DJANGO_SETTINGS_MODULE": SETTINGS}


class Workers:
    """Slots with a process each. A process is worker, scheduler and reaper, so that nobody is left out of the kills.

    Attributes:
        killed: the processes that were killed.
        strays: slots whose process has ended by itself.
    """

    def __init__(self, dsn: str, folder: Path, count: int, slots: int) -> None:
        self._environment = environment(dsn)
        self._folder = folder
        self._slots = slots
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._count = count
        self.killed: set[int] = set()
        self.strays: list[int] = []

    def start(self, slot: int) -> None:
        """Start the process of this slot, unless it runs."""
        if slot in self._running:
            return
        log = (self._folder / f"worker{slot}.log").open("ab")
        words = ["run", "worker", "scheduler", "reaper", "--slots", str(self._slots), "--log-level", "warning"]
        command = [sys.executable, "-m", "django", "leasehold", *words]
        with log:
            self._running[slot] = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def start_all(self) -> None:
        """Start those that do not run."""
        for slot in range(self._count):
            self.start(slot)

    def kill(self, slot: int) -> None:
        """SIGKILL."""
        process = self._running.pop(slot, None)
        if process is not None:
            self.killed.add(process.pid)
            process.kill()
            process.wait()

    def replace_strays(self) -> None:
        """Note who has ended by itself, and start another."""
        for slot, process in [*self._running.items()]:
            if process.poll() is not None:
                self.strays.append(slot)
                del self._running[slot]
                self.start(slot)

    def rss(self) -> dict[int, int]:
        """Bytes of each."""
        return {slot: psutil.Process(process.pid).memory_info().rss for slot, process in self._running.items()}

    def stop(self) -> None:
        """SIGTERM, and wait."""
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        for process in self._running.values():
            process.wait()
        self._running.clear()
