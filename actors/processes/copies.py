"""Copies of a process that its handler forks: they must neither answer the worker, nor hear it, nor keep it waiting.

A copy has all that the process has, and it comes back out of the handler as the process does. So it is cut off when it
begins and ended when it comes back. What forks behind Python's back is not cut off, only ended; the worker, which knows
the number of the process, believes no other.
"""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress

log = logging.getLogger(__name__)

STANDARD_STREAMS = 3
COPY_EXIT = 1


def cut_off_copies(*files: int) -> None:
    """Have each copy begin with nothing in place of `files` and of the pipes to the worker, which programs don't inherit
    either. Once, in a new process.

    Nothing, rather than closed: Python's objects for them live on in the copy, and the numbers stay taken.
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
    """Those that multiprocessing gave this process; what Python itself opens is not inheritable. None where the system
    does not list open files."""
    pipes: list[int] = []
    with suppress(FileNotFoundError):
        for file in map(int, os.listdir("/dev/fd")):
            with suppress(OSError):  # that of the directory is closed by now
                if file >= STANDARD_STREAMS and os.get_inheritable(file) and stat.S_ISFIFO(os.fstat(file).st_mode):
                    pipes.append(file)
    return pipes


def end_copy(pid: int, error: BaseException | None = None) -> None:
    """End here unless this is process `pid` itself; `error` is what the copy came back with."""
    if os.getpid() == pid:
        return
    try:
        log.error("a copy that the handler forked in process %s came back from it and was ended", pid, exc_info=error)
    finally:
        os._exit(COPY_EXIT)
