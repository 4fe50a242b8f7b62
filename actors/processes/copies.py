"""Copies of a process that its handler forks: they must neither answer the worker, nor hear it, nor keep it waiting.

A copy has the same open files as the process, and returns from the handler as the process does. So it is cut off from
the files when it begins, and ended when it returns. A copy that C code forks is not cut off, only ended; the worker
knows the pid of the process, and accepts no answer from another one.
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
