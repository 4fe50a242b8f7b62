from __future__ import annotations

import pytest

from leasehold.actors.supervise import Backoff
from leasehold.actors.upkeep.waiting import FIRST_POLL_SECONDS, PollDecay, poll_of_each, wait_until_due


def test_polls_grow_from_twenty_milliseconds_to_the_interval_and_start_over_after_activity() -> None:
    poll = PollDecay(longest=5.0, draw=lambda: 1.0)
    assert [poll.wait() for _ in range(6)] == pytest.approx([0.02, 0.08, 0.32, 1.28, 5.0, 5.0])
    poll.reset()
    assert poll.wait() == pytest.approx(FIRST_POLL_SECONDS)


def test_polls_are_jittered_by_a_tenth_and_never_longer_than_the_interval() -> None:
    assert PollDecay(longest=5.0, draw=lambda: 0.0).wait() == pytest.approx(0.9 * FIRST_POLL_SECONDS)
    assert PollDecay(longest=0.004, draw=lambda: 1.0).wait() == pytest.approx(0.004)


def test_up_to_32_idle_workers_poll_each_at_the_interval_and_more_in_turns_until_their_heartbeats() -> None:
    assert [poll_of_each(5.0, workers, 30.0) for workers in (0, 1, 32, 64, 500)] == pytest.approx([5, 5, 5, 10, 27])
    assert poll_of_each(60.0, 500, 30.0) == 60.0


def test_the_back_off_doubles_to_five_seconds_and_is_forgotten_after_half_a_minute() -> None:
    backoff = Backoff(draw=lambda: 1.0)
    assert [backoff.wait(now) for now in range(8)] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0])
    assert backoff.wait(7 + 31) == pytest.approx(0.1)


def test_the_back_off_waits_at_least_half_of_its_ceiling() -> None:
    assert Backoff(draw=lambda: 0.0).wait(0.0) == pytest.approx(0.05)


def test_the_next_due_job_is_waited_for_exactly_and_a_locked_one_is_looked_at_again_soon() -> None:
    assert wait_until_due(None, 5.0, progress=False) == 5.0
    assert wait_until_due(0.3, 5.0, progress=False) == 0.3
    assert wait_until_due(60.0, 5.0, progress=False) == 5.0
    assert wait_until_due(0.0, 5.0, progress=True) == 0.001
    assert wait_until_due(-0.0001, 5.0, progress=False) == 0.001
    assert wait_until_due(-0.02, 5.0, progress=False) == 0.02
    assert wait_until_due(-60.0, 5.0, progress=False) == 0.05
    assert wait_until_due(-60.0, 5.0, progress=True) == 0.001
    assert wait_until_due(-60.0, 0.01, progress=False) == 0.01
