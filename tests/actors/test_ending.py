from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from leasehold.actors import ending as module
from tests.support.waiting import PATIENCE

SCRIPT = """
import signal, sys, time, trio
from leasehold.actors import ending as module
module.LEAVE_SECONDS = 0.1

async def main():
    ending = module.Ending(lambda: print("drain", flush=True), lambda: print("interrupt", flush=True), float(sys.argv[2]), 0.1)
    async with trio.open_nursery() as nursery:
        await nursery.start(ending.listen)
        await {"fail": fail, "block": block, "leave": leave, "drain": drain, "terminated": terminated}[sys.argv[1]](nursery, ending)
    for _ in range(int(sys.argv[3])):
        signal.raise_signal(signal.SIGTERM)
    sys.exit(ending.exit_code)

async def fail(nursery, ending):
    nursery.cancel_scope.cancel()
    with trio.CancelScope(shield=True):
        await trio.sleep_forever()

async def block(nursery, ending):
    signal.raise_signal(signal.SIGTERM)
    time.sleep(600)

async def leave(nursery, ending):
    nursery.cancel_scope.cancel()
    ending.leave()
    time.sleep(1)

async def drain(nursery, ending, number=signal.SIGINT):
    signal.raise_signal(number)
    while not ending.has_begun:
        await trio.sleep(0)
    await trio.testing.wait_all_tasks_blocked()
    nursery.cancel_scope.cancel()
    ending.leave()

async def terminated(nursery, ending):
    await drain(nursery, ending, signal.SIGTERM)

import trio.testing
trio.run(main)
"""


def run(what: str, drain_seconds: float, late: int = 0) -> tuple[int, str]:
    words = [sys.executable, "-c", SCRIPT, what, str(drain_seconds), str(late)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout


def test_a_process_that_has_failed_and_does_not_end_is_ended() -> None:
    assert run("fail", 60) == (1, "")


def test_a_process_that_has_left_may_go_on() -> None:
    assert run("leave", 60) == (0, "")


def test_a_blocked_event_loop_does_not_keep_a_drained_process_alive() -> None:
    assert run("block", 0.1) == (1, "")


def test_ctrl_c_drains_and_has_a_code_of_its_own() -> None:
    assert run("drain", 60) == (130, "drain\n")


def test_a_second_signal_that_comes_when_all_has_ended_changes_nothing_and_a_third_ends_on_the_spot() -> None:
    assert run("terminated", 60, late=1) == (0, "drain\n")
    assert run("terminated", 60, late=2) == (1, "drain\n")


class Portal:
    """Where calls into the event loop find no memory at first."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.called = threading.Event()

    def run_sync_soon(self, function: Callable[[], object]) -> None:
        if self.failures:
            self.failures -= 1
            raise MemoryError
        self.called.set()


def _too_far(code: int) -> None:
    pytest.fail(f"it ended with {code}")


def test_a_signal_that_cannot_be_answered_for_want_of_memory_is_answered_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(module.os, "_exit", _too_far)
    ending, portal = module.Ending(lambda: None, lambda: None, 600), Portal(failures=3)
    reader, writer = socket.socketpair()
    with writer:
        writer.send(bytes([signal.SIGTERM]))
        counting = threading.Thread(target=ending._count, args=(reader, portal))  # pyright: ignore[reportPrivateUsage]  its thread, without an event loop
        counting.start()
        assert portal.called.wait(PATIENCE)
        ending.leave()
    counting.join(PATIENCE)
    assert (portal.failures, ending.has_begun) == (0, True)
