from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.actors.claiming.decisions import (
    FIRST_POLL_SECONDS,
    MOST_PREFETCH,
    PREFETCH_SECONDS,
    Backoff,
    PollDecay,
    Rate,
    claim_size,
    lease_margin,
    wait_until_due,
)


@pytest.mark.parametrize(("lease", "margin"), [(6.0, 1.0), (30.0, 5.0), (60.0, 5.0), (86_400.0, 5.0)])
def test_a_lease_is_trusted_until_a_sixth_before_its_end_and_five_seconds_at_most(lease: float, margin: float) -> None:
    assert lease_margin(lease) == margin


def test_free_slots_are_filled() -> None:
    assert claim_size(slots=3, busy=0, backlog=0, rate=0.0) == 3
    assert claim_size(slots=3, busy=2, backlog=0, rate=0.0) == 1


def test_nothing_is_claimed_for_slots_that_are_busy_with_slow_jobs() -> None:
    assert claim_size(slots=3, busy=3, backlog=0, rate=0.5) == 0
    assert claim_size(slots=3, busy=1, backlog=2, rate=0.5) == 0


def test_fast_jobs_are_fetched_ahead_in_batches_and_not_one_by_one() -> None:
    assert claim_size(slots=3, busy=3, backlog=0, rate=10_000) == 500
    assert claim_size(slots=3, busy=3, backlog=300, rate=10_000) == 0
    assert claim_size(slots=3, busy=3, backlog=200, rate=10_000) == 300


@given(
    slots=st.integers(1, 100), busy=st.integers(0, 100), backlog=st.integers(0, 2_000), rate=st.floats(0, 1e6)
)  # fmt: skip
def test_an_idle_slot_always_gets_a_claim_and_no_claim_exceeds_slots_and_prefetch(
    slots: int, busy: int, backlog: int, rate: float
) -> None:
    busy = min(busy, slots)
    size = claim_size(slots, busy, backlog, rate)
    assert size >= (1 if busy + backlog < slots else 0)
    assert busy + backlog + size <= max(slots + min(MOST_PREFETCH, rate * PREFETCH_SECONDS), busy + backlog)


def test_the_rate_follows_what_ends_and_is_forgotten_within_a_second() -> None:
    rate = Rate(now=0.0)
    for tick in range(1, 11):
        rate.add(100)
        rate.at(tick / 10)
    assert rate.at(1.0) == pytest.approx(1000, rel=0.01)
    assert rate.at(1.1) < 700
    assert rate.at(2.1) == 0.0


def test_the_rate_does_not_move_within_a_millisecond() -> None:
    rate = Rate(now=0.0)
    rate.add(1_000_000)
    assert rate.at(0.0005) == 0.0


def test_polls_double_from_ten_milliseconds_to_the_interval_and_start_over_after_activity() -> None:
    poll = PollDecay(longest=0.05, draw=lambda: 1.0)
    assert [poll.wait() for _ in range(5)] == pytest.approx([0.01, 0.02, 0.04, 0.05, 0.05])
    poll.reset()
    assert poll.wait() == pytest.approx(FIRST_POLL_SECONDS)


def test_polls_are_jittered_by_a_tenth_and_never_longer_than_the_interval() -> None:
    assert PollDecay(longest=5.0, draw=lambda: 0.0).wait() == pytest.approx(0.9 * FIRST_POLL_SECONDS)
    assert PollDecay(longest=0.004, draw=lambda: 1.0).wait() == pytest.approx(0.004)


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
