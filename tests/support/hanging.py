"""What ends a test that hangs: all stacks are printed, what it has started is killed, and its process ends.

pytest-timeout's own way leaves servers and children behind, shows nothing under pytest-xdist, and knows no trio tasks.
pytest-xdist then names the test and goes on in a new process.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil
import pytest
import trio

RUN = "PYTEST_XDIST_TESTRUNUID"
PROCESS = "PYTEST_XDIST_WORKER"


def end_after(item: pytest.Item, seconds: float) -> Callable[[], None]:
    """End this process in so many seconds; returns what calls that off."""
    timer = threading.Timer(seconds, _end, (item, seconds))
    timer.daemon = True
    timer.start()
    return timer.cancel


def _end(item: pytest.Item, seconds: float) -> None:
    try:
        capture: Any = item.config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
        print(f"\n++ not done within {seconds:g} s: {item.nodeid}", file=sys.__stderr__, flush=True)
        faulthandler.dump_traceback(2)
        # Not isinstance, which asks objects that stand for others, and those may raise.
        for task in [each for each in gc.get_objects() if type(each) is trio.lowlevel.Task]:
            _print_task(task)
        print(f"++ the end of {item.nodeid}", file=sys.__stderr__, flush=True)
    finally:
        try:
            _kill_what_it_started()
        finally:
            os._exit(1)


def _print_task(task: trio.lowlevel.Task) -> None:
    with suppress(Exception):  # it may go on meanwhile
        lines = traceback.StackSummary.extract(task.iter_await_frames()).format()
        if lines:
            print(f"trio task {task.name}\n{''.join(lines)}", file=sys.__stderr__, flush=True)


def _kill_what_it_started() -> None:
    """Postgres is nobody's child, but has the environment of the process that has started it."""
    me = psutil.Process()
    spared = {me.pid, *(each.pid for each in me.parents())}
    mine = {name: os.environ.get(name) for name in (RUN, PROCESS)}
    found = me.children(recursive=True)
    if mine[RUN] is not None:
        found += [each for each in psutil.process_iter() if _has(each, mine)]
    for each in found:
        with suppress(psutil.Error):
            if each.pid not in spared:
                each.kill()


def _has(process: psutil.Process, wanted: dict[str, str | None]) -> bool:
    with suppress(psutil.Error):
        environ = process.environ()
        return all(environ.get(name) == value for name, value in wanted.items())
    return False
