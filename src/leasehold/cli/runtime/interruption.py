"""Ctrl-C, SIGTERM and a closed terminal (SIGHUP), from the first line of a command to its last: it ends with 130, 143 or 129.

No exception is ever raised by a signal: raised between any two lines, it would leave what they are about half done (a database
driver in the middle of a message crashes the process). The first signal is noted, and whoever listens begins to end in good
order. The process ends without more ado before a command begins and while modules are imported, which may take long; upon a
second signal; and where the good order takes too long. But never while something has to be put away first that would outlive
the process. What a database makes of a process that is suddenly gone is the same as ever: it rolls back.
"""

from __future__ import annotations

import _thread
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType

from leasehold.concurrency.ending import start_bare

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 3.0


def wait_no_longer(code: int) -> None:
    """From now on threads that somebody left behind have a few seconds to end; then the process ends without them, with this
    exit code, and its log names them. What is registered with `atexit` is then not called."""
    start_bare(_end_without, code)


def _end_without(code: int) -> None:
    time.sleep(PATIENCE_SECONDS)
    left = [each.name for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]
    if left:
        log.warning("ending without threads that still run: %s; a handler has started and left them", ", ".join(left))
        with suppress(OSError, ValueError):  # a terminal that was closed; a handler has closed it
            sys.stdout.flush()
        os._exit(code)


STANDARD_INPUT = 0


def stop_with_parent() -> None:
    """Send this process SIGTERM, which drains it, when standard input ends."""
    start_bare(_wait_for_end)


def _wait_for_end() -> None:
    # Not sys.stdin: a thread that blocks there holds a lock that the interpreter wants when it ends.
    while os.read(STANDARD_INPUT, 4_096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What a command takes to end by itself is a small part of this; a database that does not answer is not waited for.
GRACE_SECONDS = 2.0
MESSAGE = "error: interrupted\n"
IMPORTER = "<frozen importlib._bootstrap>"


class Interruption:
    """What the signals of this process do. All but `exit_code` belongs to the main thread.

    States: *at once*: a signal ends the process; *heeded*: the first signal is noted and listeners are called, and the second,
    or the first during an import, ends the process; *owing*: like heeded, but only the third ends it, and no time does.

    Attributes:
        number: of the first signal; None as long as there was none.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._count = 0
        self._handled: list[signal.Signals] = []
        self._heeds = False
        self._owes = 0
        self._listeners: list[Callable[[], object]] = []

    @property
    def is_interrupted(self) -> bool:
        """Whether a signal has come."""
        return self.number is not None

    def install(self) -> None:
        """Begin to hear signals, without those that this process was started to ignore. They may be left to others for a
        while, who put back what they found."""
        self._handled = [each for each in SIGNALS if signal.getsignal(each) != signal.SIG_IGN]
        for each in self._handled:
            signal.signal(each, self._handle)

    def uninstall(self) -> None:
        """From now on a signal that nobody else hears kills: all is done but the end of the interpreter."""
        for each in self._handled:
            if signal.getsignal(each) == self._handle:
                signal.signal(each, signal.SIG_DFL)

    def exit_code(self, code: int) -> int:
        """That of an interrupted command, else `code`."""
        return code if self.number is None else 128 + self.number

    @contextmanager
    def heeded(self) -> Generator[None]:
        """Inside, signals are noted, and something has to be ended in good order."""
        self._heeds = True
        try:
            yield
        finally:
            self._heeds = False

    @contextmanager
    def owing(self) -> Generator[None]:
        """Inside there is something that would outlive the process, such as a server, and it is put away on the way out."""
        self._owes += 1
        try:
            yield
        finally:
            self._owes -= 1

    @contextmanager
    def on_signal(self, listener: Callable[[], object]) -> Generator[None]:
        """Inside, the first signal calls this, at once if it has come already."""
        self._listeners.append(listener)
        if self.is_interrupted:
            listener()
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self.number is None:
            self.number = number
        most = 2 if self._owes else 0 if _is_importing(frame) else 1
        if not self._heeds or self._count > most:
            self._end()
        # No Thread: it takes locks, and the code that we interrupt may hold them.
        _thread.start_new_thread(self._end_in_time, ())
        for each in self._listeners:
            each()

    def _end_in_time(self) -> None:
        time.sleep(GRACE_SECONDS)
        if not self._owes:
            self._end()

    def _end(self) -> None:
        # Not through sys.stderr, which may be in the middle of a line, and locked.
        os.write(2, MESSAGE.encode())
        os._exit(self.exit_code(1))


def _is_importing(frame: FrameType | None) -> bool:
    """Whether the code that was interrupted runs because somebody imports it."""
    while frame is not None:
        if frame.f_code.co_filename == IMPORTER:
            return True
        frame = frame.f_back
    return False
