from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.actors.leases.claim_size import MOST_PREFETCH, PREFETCH_SECONDS, Rate, claim_size, prefetch_seconds


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


def test_where_claims_are_slow_more_is_fetched_ahead_up_to_a_second() -> None:
    assert [prefetch_seconds(took) for took in (0.0, 0.01, 0.1, 10.0)] == [0.05, 0.05, pytest.approx(0.3), 1.0]
    assert claim_size(slots=3, busy=3, backlog=0, rate=1000, claim_seconds=0.2) == 600


@pytest.mark.parametrize("claim_seconds", [0.001, 0.02, 0.06, 0.15, 0.3])
def test_however_slow_claims_are_fast_jobs_do_not_wait_for_them(claim_seconds: float) -> None:
    """A worker that could finish 2,000 jobs a second, whose every claim takes so long."""
    speed, slots, backlog, rate, finished = 2_000.0, 10, 0.0, 0.0, 0.0
    for _ in range(200):
        size = claim_size(slots, slots if backlog else 0, int(backlog), rate, claim_seconds)
        pace = claim_seconds if size else 0.005
        done = min(backlog, speed * pace)
        rate, backlog = (
            rate + (done / pace - rate) * (0.5 if done / pace > rate else min(1.0, pace / 0.25)),
            backlog - done + size,
        )
        finished = done / pace
    assert finished >= 0.9 * min(speed, MOST_PREFETCH / claim_seconds / 2)


@given(slots=st.integers(1, 100), busy=st.integers(0, 100), backlog=st.integers(0, 2_000), rate=st.floats(0, 1e6))
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
        rate.at(tick / 10, 3)
    assert rate.at(1.0, 3) == pytest.approx(1000, rel=0.01)
    assert rate.at(1.1, 3) < 700
    assert rate.at(2.1, 3) == 0.0


def test_the_rate_does_not_move_within_a_millisecond() -> None:
    rate = Rate(now=0.0)
    rate.add(1_000_000)
    assert rate.at(0.0005, 3) == 0.0


def test_fast_jobs_are_seen_to_be_fast_within_milliseconds() -> None:
    rate = Rate(now=0.0)
    for tick in range(1, 11):
        rate.add(10)
        rate.at(tick / 1000, 4)
    assert rate.at(0.010, 4) == pytest.approx(10_000, rel=0.01)


@pytest.mark.parametrize(("slots", "spread"), [(2, 0.002), (4, 0.06), (16, 0.01), (64, 0.06)])
def test_slow_jobs_that_end_almost_together_are_not_taken_for_fast_ones(slots: int, spread: float) -> None:
    """Two ends two milliseconds apart read as 250 a second, and a worker of two slots fetched a dozen jobs of a second each."""
    rate, most = Rate(now=0.0), 0
    for second in range(1, 21):
        for number in range(slots):
            now = second + spread * number / slots
            rate.add(1)
            most = max(most, claim_size(slots, slots, 0, rate.at(now, slots)))
    assert most <= slots / 4
