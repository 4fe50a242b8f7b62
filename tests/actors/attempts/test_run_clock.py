from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from leasehold.actors.attempts import run_clock
from leasehold.actors.attempts.run_clock import RunClock


@pytest.fixture
def one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines are on trio's clock, which begins at 0 and jumps."""
    monkeypatch.setattr(run_clock, "monotonic", trio.current_time)


@pytest.mark.usefixtures("one_clock")
async def test_the_deadline_goes_on_while_the_timeout_stands_still(autojump_clock: MockClock) -> None:
    scope = trio.CancelScope()
    clock = RunClock(scope, timeout=2.0, deadline=10.0)
    with scope:
        await trio.sleep(1.5)
        clock.stop()
        await trio.sleep(6)
        clock.start()
        await trio.sleep_forever()
    assert trio.current_time() == 8.0
    error, is_last = clock.error()
    assert (error["type"], is_last) == ("TimedOut", False)


@pytest.mark.usefixtures("one_clock")
async def test_a_deadline_passes_while_the_timeout_stands_still(autojump_clock: MockClock) -> None:
    scope = trio.CancelScope()
    clock = RunClock(scope, timeout=2.0, deadline=10.0)
    with scope:
        clock.stop()
        await trio.sleep_forever()
    assert trio.current_time() == 10.0
    error, is_last = clock.error()
    assert (error["type"], is_last) == ("DeadlineExceeded", True)


@pytest.mark.usefixtures("one_clock")
async def test_a_deadline_that_has_passed_cancels_at_once(autojump_clock: MockClock) -> None:
    scope = trio.CancelScope()
    clock = RunClock(scope, timeout=None, deadline=-1.0)
    with scope:
        await trio.sleep(1)
    assert scope.cancelled_caught
    assert clock.expired == "deadline"
