"""Real `leasehold` processes, with their output read as it comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal, Protocol, TypeVar

import psutil
import trio

from benchmarks import processes as measured
from tests.support.forking import Forked, forks
from tests.support.waiting import PATIENCE

T = TypeVar("T")
Stream = Literal["stdout", "stderr"]
FORKED = ("run", "gateway")  # of which most are started


class LeaseholdProcess:
    """`python -m leasehold ARGS…` in a session of its own. Waiting is driven by its output, never by sleeping.

    The plain methods block; in an async test that has tasks of its own running, await `until_line` and `until_exit`.
    """

    def __init__(self, args: Sequence[str], env: Mapping[str, str], cwd: Path | None = None) -> None:
        self.args = list(args)
        self._lines: list[tuple[Stream, str]] = []
        self._changed = threading.Condition()
        pipes = [os.pipe(), os.pipe()]
        self._popen = self._start(env, cwd, [written for _, written in pipes])
        for _, written in pipes:
            os.close(written)
        stdout, stderr = (os.fdopen(read, errors="backslashreplace") for read, _ in pipes)
        self._open_streams = 2
        self._readers = [
            threading.Thread(target=self._read, args=("stdout", stdout), daemon=True),
            threading.Thread(target=self._read, args=("stderr", stderr), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _start(self, env: Mapping[str, str], cwd: Path | None, output: list[int]) -> subprocess.Popen[bytes] | Forked:
        has_code_of_its_own = env.get("PYTHONPATH") != os.environ.get("PYTHONPATH")
        if self.args[0] in FORKED and not has_code_of_its_own:
            return forks().start(self.args, env, cwd, output)
        command, (stdout, stderr) = [sys.executable, "-m", "leasehold", *self.args], output
        return subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the number of the signal that ended it."""
        return self._popen.poll()

    @property
    def stdout(self) -> str:
        return self._text("stdout")

    @property
    def stderr(self) -> str:
        return self._text("stderr")

    @property
    def output(self) -> str:
        """Both streams as they came."""
        with self._changed:
            return "\n".join(line for _, line in self._lines)

    @property
    def line_count(self) -> int:
        """How many lines have come so far; give it as `after` to wait for a later line."""
        with self._changed:
            return len(self._lines)

    def wait_for_line(self, text: str, timeout: float = PATIENCE, *, after: int = 0) -> str:
        """The first line, of either stream, with this text in it; fails after `timeout` seconds or when it ends."""

        def find() -> str | None:
            return next((line for _, line in self._lines[after:] if text in line), None)

        deadline = time.monotonic() + timeout
        with self._changed:
            while (found := find()) is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"no line with {text!r} from {self._describe()} within {timeout} s")
                if self._open_streams == 0:
                    raise AssertionError(f"{self._describe()} ended without a line with {text!r}")
                self._changed.wait(left)
        return found

    def wait(self, timeout: float = PATIENCE) -> int:
        """The exit code, once it has ended and all its output is here; fails after `timeout` seconds."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self._describe()} did not end within {timeout} s") from None
        for reader in self._readers:
            reader.join(5 if self._has_left_children() else PATIENCE)  # they may keep the pipe open
        return code

    async def until_line(self, text: str, timeout: float = PATIENCE, *, after: int = 0) -> str:
        return await _in_thread(lambda: self.wait_for_line(text, timeout, after=after))

    async def until_exit(self, timeout: float = PATIENCE) -> int:
        return await _in_thread(lambda: self.wait(timeout))

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def terminate(self, timeout: float = PATIENCE) -> int:
        """SIGTERM; returns the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait(timeout)

    def kill(self) -> None:
        """SIGKILL: it gets no chance to say goodbye."""
        self._popen.kill()
        self._popen.wait()

    def clean_up(self) -> None:
        """End it and everything it started. Safe to call twice."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        for reader in self._readers:
            reader.join()

    def _has_left_children(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def _read(self, stream: Stream, pipe: IO[str]) -> None:
        with pipe:
            for line in pipe:
                with self._changed:
                    self._lines.append((stream, line.rstrip("\n")))
                    self._changed.notify_all()
        with self._changed:
            self._open_streams -= 1
            self._changed.notify_all()

    def _text(self, stream: Stream) -> str:
        with self._changed:
            return "\n".join(line for name, line in self._lines if name == stream)

    def _describe(self) -> str:
        lines = "\n".join(f"  {line}" for _, line in self._lines[-60:])
        return f"`leasehold {' '.join(self.args)}` (pid {self.pid}, exit code {self.exit_code}):\n{lines}\n"


class StartProcess(Protocol):
    """Starts `leasehold ARGS…`; `env` goes over an environment without any setting of leasehold."""

    def __call__(
        self, args: Sequence[str], env: Mapping[str, str] | None = None, *, cwd: Path | None = None
    ) -> LeaseholdProcess: ...


@contextmanager
def processes() -> Generator[StartProcess]:
    """Starts processes; at the end they are all gone, and what they said is printed for the report of a failed test."""
    started: list[LeaseholdProcess] = []

    def start(
        args: Sequence[str], env: Mapping[str, str] | None = None, *, cwd: Path | None = None
    ) -> LeaseholdProcess:
        process = LeaseholdProcess(args, clean_environment(env), cwd)
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in started:
            process.clean_up()
            print(f"--- leasehold {' '.join(process.args)} (exit code {process.exit_code})\n{process.output}")


def clean_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without settings of leasehold or Postgres, then `env`."""
    return measured.clean_environment({"PYTHONUNBUFFERED": "1", **(env or {})})


def is_gone(pid: int) -> bool:
    """Whether a process has ended, although nobody may have asked how."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def _in_thread(work: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
