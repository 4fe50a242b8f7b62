"""Ends a process together with the worker that started it, however the worker ends and whatever the process does.

The kernel sends SIGKILL to the whole process group when the worker's end of a pipe closes, so a handler that never lets
go of the interpreter lock ends as well, and so do programs it has started. (PR_SET_PDEATHSIG would be simpler, but it
watches the thread that forked, and trio's threads end after ten idle seconds.)
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import select
import signal
import threading


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
