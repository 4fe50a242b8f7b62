"""How a process that runs handlers ends: with its worker, and without the copies that a handler forks."""

from __future__ import annotations

import fcntl
import logging
import multiprocessing
import os
import select
import signal
import stat
import threading
from contextlib import suppress

log = logging.getLogger(__name__)

STANDARD_STREAMS = 3
COPY_EXIT = 1


def die_with_parent() -> None:
    """Have this process and its group killed when the worker ends. Call it once, in a process that leads its group."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    pipe = parent.sentinel
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    else:
        threading.Thread(target=_wait_for_end, args=(pipe,), name="die-with-parent", daemon=True).start()
    if select.select([pipe], [], [], 0)[0]:  # the worker ended before this was arranged
        os.killpg(os.getpgrp(), signal.SIGKILL)


def _wait_for_end(pipe: int) -> None:
    select.select([pipe], [], [])
    os.killpg(os.getpgrp(), signal.SIGKILL)


def cut_off_copies(*files: int) -> None:
    """Replace `files` and the pipes to the worker by /dev/null in each copy. Call it once, in a new process. Programs
    that the handler starts do not inherit the pipes either.

    They are not closed, because Python's objects for them live on in the copy: their numbers must stay taken.
    """
    pipes = _inherited_pipes()
    for pipe in pipes:
        os.set_inheritable(pipe, False)
    nothing = os.open(os.devnull, os.O_RDWR)

    def cut_off() -> None:
        for file in (*files, *pipes):
            os.dup2(nothing, file, inheritable=False)

    os.register_at_fork(after_in_child=cut_off)


def _inherited_pipes() -> list[int]:
    """The pipes that multiprocessing gave this process; what Python itself opens is not inheritable. Empty where the
    system does not list open files."""
    pipes: list[int] = []
    with suppress(FileNotFoundError):
        for file in map(int, os.listdir("/dev/fd")):
            with suppress(OSError):  # that of the directory is closed by now
                if file >= STANDARD_STREAMS and os.get_inheritable(file) and stat.S_ISFIFO(os.fstat(file).st_mode):
                    pipes.append(file)
    return pipes


def end_copy(pid: int, error: BaseException | None = None) -> None:
    """End this process unless it is process `pid` itself; `error` is what the handler raised in the copy."""
    if os.getpid() == pid:
        return
    try:
        log.error("a copy that the handler forked in process %s came back from it and was ended", pid, exc_info=error)
    finally:
        os._exit(COPY_EXIT)
