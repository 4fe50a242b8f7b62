from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.actors.upkeep.reaping import SLACK_SECONDS, Attendance, elapsed
from tests.support.machines import FakeClock


@pytest.fixture
def watch() -> FakeClock:
    return FakeClock()


def test_it_counts_from_the_first_answer(watch: FakeClock) -> None:
    attendance = Attendance(watch)
    assert attendance.span() == timedelta()
    attendance.seen()
    watch.now += 2
    assert attendance.span() == timedelta(seconds=2)
    attendance.seen(60.0)
    watch.now += 60
    assert attendance.span() == timedelta(seconds=62)


def test_it_begins_anew_after_a_loss(watch: FakeClock) -> None:
    attendance = Attendance(watch)
    attendance.seen(600.0)
    watch.now += 100
    attendance.begin()
    assert attendance.span() == timedelta()
    attendance.seen(600.0)
    watch.now += 1
    assert attendance.span() == timedelta(seconds=1)


def test_an_answer_that_comes_late_is_a_break(watch: FakeClock) -> None:
    """This process was stopped, or the database stood still, and nobody was told."""
    attendance = Attendance(watch)
    attendance.seen(5.0)
    watch.now += 5 + SLACK_SECONDS + 0.1
    assert attendance.span() == timedelta()
    attendance.seen(5.0)
    assert attendance.span() == timedelta()
    watch.now += 4
    assert attendance.span() == timedelta(seconds=4)


def test_waiting_for_the_next_answer_is_no_answer(watch: FakeClock) -> None:
    attendance = Attendance(watch)
    attendance.expect(5.0)
    watch.now += 2
    assert attendance.span() == timedelta()
    attendance.seen()
    attendance.expect(5.0)
    watch.now += 5
    assert attendance.span() == timedelta(seconds=5)
    attendance.seen()
    watch.now += SLACK_SECONDS + 0.1
    attendance.expect(5.0)
    assert attendance.span() == timedelta()


def test_its_clock_goes_on() -> None:
    assert elapsed() <= elapsed()
