from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from leasehold.concurrency.ending import start_bare
from tests.support.waiting import PATIENCE

SHOW = "from leasehold.concurrency.ending import stop_signals; print(*(each.name for each in stop_signals()))"


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("hang_up", "names"), [(signal.SIG_DFL, "SIGTERM SIGINT SIGHUP"), (signal.SIG_IGN, "SIGTERM SIGINT")]
)
def test_a_closed_terminal_ends_a_process_unless_nohup_started_it(hang_up: signal.Handlers, names: str) -> None:
    script = f"import signal; signal.signal(signal.SIGHUP, signal.Handlers({hang_up.value})); {SHOW}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.split() == names.split()


def test_who_starts_a_bare_thread_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that dies before it says that it runs: `Thread.start` would wait for that word for ever."""
    died, starter, really = threading.Event(), threading.current_thread(), threading.Event.wait

    def wait(event: threading.Event, timeout: float | None = None) -> bool:
        assert threading.current_thread() is not starter, "it waited"
        return really(event, timeout)

    monkeypatch.setattr(threading.Event, "wait", wait)
    start_bare(died.set)
    monkeypatch.undo()
    assert died.wait(PATIENCE)


def test_a_bare_thread_keeps_no_process_alive() -> None:
    seen: list[bool] = []
    told = threading.Event()

    def look() -> None:
        seen.append(threading.current_thread().daemon)
        told.set()

    start_bare(look)
    assert told.wait(PATIENCE)
    assert seen == [True]


EARLY = """
import os, signal
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))
from leasehold.concurrency.ending import undo_in_copies
def ours(*_): print("heard")
undo_in_copies(ours)
signal.signal(signal.SIGTERM, ours)
signal.signal(signal.SIGINT, ours)
if (copy := os.fork()) == 0:
    os._exit(3)
print(-os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))
os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.acceptance
def test_a_signal_to_a_copy_that_has_just_been_made_is_not_lost() -> None:
    """`multiprocessing` ends the workers of a pool so, and would wait for them for ever."""
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.split() == [str(signal.SIGTERM.value), "heard"]
