from __future__ import annotations

import threading

import pytest

from leasehold.concurrency.ending import start_bare
from tests.support.waiting import PATIENCE


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
