"""For the end of a process: which signals ask for it, and threads that start even where no memory is left."""

from __future__ import annotations

import _thread
import os
import signal
import threading
from collections.abc import Callable
from socket import socket
from types import FrameType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

if TYPE_CHECKING:
    from asyncio.trsock import TransportSocket

_closing: WeakSet[socket] = WeakSet()


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT, and SIGHUP, which a terminal sends when it is closed; not SIGHUP under `nohup`, which ignores it."""
    hang_up = signal.SIGHUP
    ignored = signal.getsignal(hang_up) == signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT) if ignored else (signal.SIGTERM, signal.SIGINT, hang_up)


def undo_in_copies(handler: Callable[[int, FrameType | None], object]) -> None:
    """In a copy of this process that a handler forks, the signals that have this handler do again what they do in any program.

    Otherwise the copy would ignore them, and write them to a descriptor that it shares with us: a signal to it would be one to us.
    While the copy is made they wait, so one that comes at once is not lost on our handler. SIGINT is an exception in a program, and
    one that comes as early as that may be lost.
    """
    kept = threading.local()

    def handled() -> list[signal.Signals]:
        return [number for number in stop_signals() if signal.getsignal(number) is handler]

    def block() -> None:
        # Another handler of SIGINT may raise here, between the mask and its end.
        kept.mask = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals()) if signal.SIGINT in handled() else None

    def unblock() -> None:
        if (mask := getattr(kept, "mask", None)) is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def undo() -> None:
        ours = handled()
        if ours:
            signal.set_wakeup_fd(-1)
        for number in ours:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        unblock()

    os.register_at_fork(before=block, after_in_parent=unblock, after_in_child=undo)


def close_in_copies(ours: socket | TransportSocket) -> None:
    """In a copy of this process that is forked, close this socket: its port, and who is connected, are the original's alone."""
    _closing.add(ours if isinstance(ours, socket) else cast("Any", ours)._sock)


def _close() -> None:
    for each in list(_closing):
        each.close()


os.register_at_fork(after_in_child=_close)


def start_bare(function: Callable[..., object], *args: object) -> None:
    """Run a function in a new daemon thread, and wait for nothing.

    `threading.Thread.start` waits until the new thread says that it runs. One that dies before, because there is no memory for its
    first object, never says so, and whoever started it waits for ever.

    Raises:
        RuntimeError: no thread can be started.
    """
    _thread.start_new_thread(function, args)
