"""Starts `leasehold` without reading its modules again: a process that has read them forks for each start.

Reading them takes four fifths of what a start costs. A fork is a process like any other: it has its own session, environment
and output, is killed alone, and ends as the interpreter ends. How the interpreter starts is tried where that is the matter:
in tests of commands, signals, the demo and the wheel.
"""

from __future__ import annotations

import atexit
import io
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import msgspec

LONGEST = 1 << 20
READ_ALREADY = (
    "leasehold.database.migrations",
    "leasehold.actors.run",
    "leasehold.cli.shell.launcher",
    "leasehold.cli.commands.processes",
    "asyncpg",
    "psycopg",
)


class Start(msgspec.Struct, frozen=True):
    """What to start: the words after `leasehold`, its environment and its folder."""

    args: list[str]
    env: dict[str, str]
    cwd: str


class Started(msgspec.Struct, frozen=True):
    """A process, and how it ended: an exit code, or minus the number of a signal; None: it has just begun."""

    pid: int
    code: int | None = None


class Forked:
    """A process that was forked, for whom starts processes with `subprocess`: the same methods."""

    def __init__(self, forks: Forks, pid: int) -> None:
        self.pid = pid
        self._forks = forks

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._forks.code_of(self.pid, 0)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises TimeoutExpired."""
        code = self._forks.code_of(self.pid, timeout)
        if code is None:
            raise subprocess.TimeoutExpired("leasehold", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send it, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that forks, and what it tells of those it has made."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", __name__, str(theirs.fileno())]
            self._server = subprocess.Popen(command, pass_fds=[theirs.fileno()], start_new_session=True)
        self._socket = ours
        self._changed = threading.Condition()
        self._begun: list[int] = []
        self._codes: dict[int, int] = {}
        self._starting = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def start(self, args: Sequence[str], env: Mapping[str, str], cwd: Path | None, output: Sequence[int]) -> Forked:
        """Start `leasehold ARGS…` with these descriptors as standard output and error."""
        start = Start(list(args), dict(env), str(cwd or Path.cwd()))
        with self._starting:
            socket.send_fds(self._socket, [msgspec.json.encode(start)], list(output))
            with self._changed:
                assert self._changed.wait_for(lambda: self._begun, 60), "the process that forks is gone"
                return Forked(self, self._begun.pop())

    def code_of(self, pid: int, timeout: float | None) -> int | None:
        """How a process has ended; None: it runs after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: pid in self._codes, timeout)
            return self._codes.get(pid)

    def close(self) -> None:
        """Nobody starts anything any more."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._server.wait()

    def _read(self) -> None:
        while message := self._socket.recv(LONGEST):
            told = msgspec.json.decode(message, type=Started)
            with self._changed:
                if told.code is None:
                    self._codes.pop(told.pid, None)  # of an earlier process with this number
                    self._begun.append(told.pid)
                else:
                    self._codes[told.pid] = told.code
                self._changed.notify_all()


@cache
def forks() -> Forks:
    """That of this process, which ends with it."""
    made = Forks()
    atexit.register(made.close)
    return made


def serve(asked: socket.socket) -> tuple[Start, list[int]]:
    """Fork for each start until nobody asks any more. Returns in the process that was forked."""

    def tell(*_: Any) -> None:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                asked.send(msgspec.json.encode(Started(ended[0], os.waitstatus_to_exitcode(ended[1]))))
        except (ChildProcessError, OSError):
            pass

    signal.signal(signal.SIGCHLD, tell)
    while True:
        message, output, _, _ = socket.recv_fds(asked, LONGEST, 2)
        if not message:
            os._exit(0)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # it has begun before it ends
        if (pid := os.fork()) == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            asked.close()
            return msgspec.json.decode(message, type=Start), output
        for each in output:
            os.close(each)
        asked.send(msgspec.json.encode(Started(pid)))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def become(start: Start, output: Sequence[int]) -> NoReturn:
    """Be `python -m leasehold ARGS…`, started there."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDONLY)
    for number, each in enumerate([nowhere, *output]):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(start.env)
    time.tzset()
    os.chdir(start.cwd)
    sys.path[0] = os.getcwd()
    sys.stdin = os.fdopen(0)
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", 0), encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(
        os.fdopen(2, "wb", 0), encoding="utf-8", errors="backslashreplace", write_through=True
    )
    sys.argv = ["leasehold", *start.args]
    import leasehold.__main__ as program

    sys.modules["__main__"] = program
    program.main()


if __name__ == "__main__":
    for name in READ_ALREADY:
        __import__(name)
    become(*serve(socket.socket(fileno=int(sys.argv[1]))))
