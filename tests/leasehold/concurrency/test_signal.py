from __future__ import annotations

import math

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from leasehold.concurrency.signal import Signal


async def test_a_signal_that_was_set_before_the_wait_is_not_lost_and_counts_once(autojump_clock: MockClock) -> None:
    signal = Signal()
    signal.set()
    signal.set()
    assert await signal.wait() is True
    assert await signal.wait(1) is False


async def test_a_wait_ends_when_the_signal_is_set(autojump_clock: MockClock) -> None:
    signal = Signal()

    async def set_it() -> None:
        await wait_all_tasks_blocked()
        signal.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(set_it)
        assert await signal.wait(math.inf) is True
    assert trio.current_time() == 0


async def test_a_wait_without_a_signal_takes_its_time(autojump_clock: MockClock) -> None:
    assert await Signal().wait(30) is False
    assert trio.current_time() == 30


async def test_a_cancelled_wait_leaves_the_signal_usable(autojump_clock: MockClock) -> None:
    signal = Signal()
    with trio.move_on_after(1):
        await signal.wait()
    signal.set()
    assert await signal.wait() is True
