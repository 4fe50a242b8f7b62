"""Kills the process of a handler before each of its statements, and looks what has become of the world."""

from __future__ import annotations

import linecache
import os
import sys
import threading
import warnings
from collections.abc import Callable
from inspect import unwrap
from types import CodeType, FrameType
from typing import Any, NamedTuple, NoReturn

from leasehold.jobs.kind import Kind
from leasehold.testing.databases import TestDatabases

KILLED, DONE, BROKEN = 77, 0, 70
MOST_POINTS = 10_000
SEND_AWAY = (
    "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '{}' and pid <> pg_backend_pid()"
)


class CrashPoint(NamedTuple):
    """A statement of the handler's file, before which its process was killed. `problem`: what `check` said afterwards."""

    file: str
    line: int
    problem: str | None = None

    def __str__(self) -> str:
        code = linecache.getline(self.file, self.line).strip()
        where = f"{os.path.basename(self.file)}:{self.line}"
        return f"killed before {where} `{code}`: {self.problem or 'recovered'}"


class CrashFound(AssertionError):
    """After some crashes and their recovery, the check failed.

    Attributes:
        points: all that were tried; those with a problem failed.
    """

    def __init__(self, points: list[CrashPoint]) -> None:
        bad = [point for point in points if point.problem is not None]
        lines = "\n".join(f"  {point}" for point in bad)
        super().__init__(f"{len(bad)} of {len(points)} crashes were not recovered from\n{lines}")
        self.points = points


class Crashing:
    """One `crash_everywhere`.

    Args:
        databases: where the test's is, called `name`.
        kind: whose handler is killed.
        enqueue: makes its job and returns the id. run: runs that. recover: runs it to its end after a crash.
        check: as for `Kit.crash_everywhere`.
    """

    def __init__(
        self,
        databases: TestDatabases,
        name: str,
        kind: Kind[..., Any],
        *,
        enqueue: Callable[[], int],
        run: Callable[[], object],
        recover: Callable[[int], None],
        check: Callable[[], object],
    ) -> None:
        self._databases = databases
        self._name = name
        self._before = f"{name}_before"
        self._code: CodeType = unwrap(kind.function).__code__
        self._enqueue = enqueue
        self._run = run
        self._recover = recover
        self._check = check

    def everywhere(self) -> list[CrashPoint]:
        """Try one point after the other until the handler comes to its end. Raises CrashFound."""
        self._databases.execute(SEND_AWAY.format(self._name), f"create database {self._before} template {self._name}")
        points: list[CrashPoint] = []
        try:
            while (point := self._crash_at(len(points) + 1)) is not None:
                points.append(point)
                if len(points) == MOST_POINTS:
                    raise AssertionError(f"the handler has more than {MOST_POINTS} statements to be killed at")
        finally:
            self._begin_anew()
            self._databases.drop(self._before)
        if any(point.problem is not None for point in points):
            raise CrashFound(points)
        return points

    def _crash_at(self, number: int) -> CrashPoint | None:
        """Kill the handler before its statement of this number, recover and check; None: it has no such statement."""
        self._begin_anew()
        job_id = self._enqueue()
        place = self._run_and_die(number)
        if place is None:
            return None
        self._recover(job_id)
        return CrashPoint(self._code.co_filename, place, self._problem())

    def _problem(self) -> str | None:
        try:
            return f"{getattr(self._check, '__name__', 'check')} returned False" if self._check() is False else None
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _begin_anew(self) -> None:
        self._databases.replace(self._name, self._before)

    def _run_and_die(self, number: int) -> int | None:
        """Run the job in a fork; the line before which it was killed, None where it came to its end."""
        receiver, sender = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # CPython warns of forks beside threads
            child = os.fork()
        if child == 0:
            self._live(number, sender)
        os.close(sender)
        with open(receiver, "rb") as opened:
            text = opened.read().decode()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code not in (KILLED, DONE):
            raise AssertionError(f"the process of the handler ended by itself ({code}): {text}")
        return int(text) if code == KILLED else None

    def _live(self, number: int, sender: int) -> NoReturn:
        """The life of the fork. Nothing of the test's process is cleaned up in it."""
        code = BROKEN
        try:
            killer = Killer(self._code.co_filename, number, sender)
            sys.settrace(None)
            threading.settrace(killer.enter)
            self._run()
            code = DONE
        except BaseException as error:
            os.write(sender, repr(error).encode()[:4000])
        os._exit(code)


class Killer:
    """A trace function that ends the process before the statement of a number, counted over all functions of a file."""

    def __init__(self, file: str, number: int, sender: int) -> None:
        self._file = file
        self._left = number
        self._sender = sender

    def enter(self, frame: FrameType, _event: str, _argument: object) -> Any:
        """For `settrace`."""
        return self.step if frame.f_code.co_filename == self._file else None

    def step(self, frame: FrameType, event: str, _argument: object) -> Any:
        """A line or the end of a function is ahead."""
        if event in ("line", "return"):
            self._left -= 1
            if self._left == 0:
                os.write(self._sender, str(frame.f_lineno).encode())
                os._exit(KILLED)
        return self.step
