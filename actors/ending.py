"""How a process of actors ends: a first signal drains it, a second one interrupts it, a third one ends it on the spot.

A separate thread counts the signals and watches the time. So the process ends even if a handler blocks the event loop
or the loop has crashed. Python writes the number of each signal to a socket when the signal arrives, whatever the main
thread does; the separate thread reads it.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from types import FrameType
from typing import Literal

import trio

from leasehold.concurrency.ending import start_bare, stop_signals, undo_in_copies
from leasehold.settings.settings import FORCE_SECONDS

log = logging.getLogger(__name__)

LEAVE_SECONDS = 15.0  # connections to a database that is away take a while to close
LOG_SECONDS = 0.5
AGAIN_SECONDS = 0.1
Phase = Literal["running", "draining", "interrupted", "over"]


class Ending:
    """Ends a process in phases. A signal, or the end of a phase's time, leads to the next phase.

    Phases: *running*; *draining*, for `drain_seconds` at the most; *interrupted*, for `force_seconds` at the most;
    *over*.

    Args:
        drain: called in the event loop when draining begins.
        interrupt: called in the event loop when the process is interrupted; it ends what still runs.
        drain_seconds: how long draining may take.
        force_seconds: how long what was interrupted may take.
        before_drain: called when draining begins, in a thread that nothing blocks.

    Attributes:
        exit_code: 0 for a process that ends by itself, drained or interrupted; 130 if the first signal was SIGINT. One that has
            to be ended, since something does not let itself be interrupted, ends with 1, or with 130.
    """

    def __init__(
        self,
        drain: Callable[[], object],
        interrupt: Callable[[], object],
        drain_seconds: float,
        force_seconds: float = FORCE_SECONDS,
        before_drain: Callable[[], object] = bool,
    ) -> None:
        self._drain = drain
        self._before_drain = before_drain
        self._interrupt = interrupt
        self._drain_seconds = drain_seconds
        self._force_seconds = force_seconds
        self._phase: Phase = "running"
        self._until = float("inf")
        self._has_left = threading.Event()
        self._unanswered = 0
        self.exit_code = 0

    @property
    def has_begun(self) -> bool:
        """Whether it has been told to end."""
        return self._phase != "running"

    async def listen(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Obey signals until cancelled, in the main thread. After that the process must call `leave` within fifteen
        seconds. If it does not, it is ended: a process that has failed may hang."""
        portal = trio.lowlevel.current_trio_token()
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        start_bare(self._count, reader, portal)
        with writer, self._signals_to(writer.fileno()):
            task_status.started()
            await trio.sleep_forever()

    @contextmanager
    def _signals_to(self, descriptor: int) -> Generator[None]:
        """Inside the block, Python writes the numbers of signals to this descriptor. Those that ask it to end do nothing else."""
        pipe = signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
        handlers = {each: signal.signal(each, _nothing) for each in stop_signals()}
        try:
            yield
        finally:
            is_ending = self.has_begun or self._unanswered > 0
            for number, handler in handlers.items():
                signal.signal(number, self._interrupt_late if is_ending else handler)
            signal.set_wakeup_fd(pipe, warn_on_full_buffer=False)

    def _interrupt_late(self, _number: int, _frame: FrameType | None) -> None:
        """The actors have ended, and the process is on its way out: a second signal has nothing to interrupt any more."""
        if self._phase == "interrupted":
            os._exit(self.exit_code or 1)
        self._phase = "interrupted"

    def leave(self) -> None:
        """Say that everything in this process has ended."""
        self._has_left.set()

    def _count(self, reader: socket.socket, portal: trio.lowlevel.TrioToken) -> None:
        with reader:
            while True:
                try:
                    if not self._wait_once(reader, portal):
                        break
                except Exception:
                    # Without memory anything may fail, and a signal must be heard all the same.
                    if self._phase == "over":
                        os._exit(1)
                    sleep(AGAIN_SECONDS)
        if not self._has_left.wait(LEAVE_SECONDS):
            _log_in_time("ending a process that does not end by itself; the leases will run out", level=logging.ERROR)
            os._exit(self.exit_code or 1)

    def _wait_once(self, reader: socket.socket, portal: trio.lowlevel.TrioToken) -> bool:
        """Wait for a signal or for the time; False: nobody listens any more."""
        while self._unanswered:
            self._advance(portal)
            self._unanswered -= 1
        wait = None if self._until == float("inf") else max(0.0, self._until - monotonic())
        if not select.select([reader], [], [], wait)[0]:
            self._advance(portal)
            return True
        numbers = reader.recv(16)
        if signal.SIGINT in numbers and self._phase == "running" and not self._unanswered:
            self.exit_code = 128 + signal.SIGINT
        self._unanswered += sum(number in stop_signals() for number in numbers)
        return bool(numbers)

    def _advance(self, portal: trio.lowlevel.TrioToken) -> None:
        """Begin the next phase, or fail and change nothing."""
        match self._phase:
            case "running":
                self._before_drain()
                # Said first: a process without jobs may have ended before it says what it does.
                _log_in_time(
                    "draining: running jobs may finish for %s s; a second signal ends them", self._drain_seconds
                )
                _call(portal, self._drain)
                self._phase, self._until = "draining", monotonic() + self._drain_seconds
            case "draining":
                _call(portal, self._interrupt)
                self._phase, self._until = "interrupted", monotonic() + self._force_seconds
                _log_in_time("interrupting what still runs", level=logging.WARNING)
            case "interrupted" | "over":
                self._phase = "over"
                _log_in_time(
                    "ending although not everything could be interrupted; the leases will run out",
                    level=logging.WARNING,
                )
                os._exit(self.exit_code or 1)


def _nothing(_number: int, _frame: object) -> None:
    return


undo_in_copies(_nothing)


def _call(portal: trio.lowlevel.TrioToken, function: Callable[[], object]) -> None:
    with suppress(trio.RunFinishedError):
        portal.run_sync_soon(function)


def _log_in_time(text: str, *values: object, level: int = logging.INFO) -> None:
    """Log a line, and wait for it half a second at the most: code that blocks the process may hold the log's lock."""
    with suppress(RuntimeError, MemoryError):
        written = threading.Event()
        start_bare(_write, written, level, text, *values)
        written.wait(LOG_SECONDS)


def _write(written: threading.Event, level: int, text: str, *values: object) -> None:
    with suppress(MemoryError):
        log.log(level, text, *values)
    written.set()
