from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leasehold.client.feed import memory
from leasehold.client.feed.changes import Change, microseconds_of
from leasehold.client.feed.memory import SECOND, Reported, Watermark

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
FIRST = microseconds_of(NOON) // SECOND
LONGEST = timedelta(minutes=15)


def change(job_id: int, seconds: float = 0.0) -> Change:
    return Change(event="job_completed", at=NOON + timedelta(seconds=seconds), job_id=job_id, attempt=1)


def test_what_was_told_is_not_fresh_again() -> None:
    told = Reported()
    assert told.fresh([change(1), change(2), change(1)]) == [change(1), change(2)]
    assert told.fresh([change(2), change(3)]) == [change(3)]


def test_of_a_second_that_has_grown_only_what_was_not_told_is_late() -> None:
    told = Reported()
    told.fresh([change(1)])
    assert told.incomplete({FIRST: (2, 3)}) == [FIRST]
    assert told.late([change(1), change(2)]) == [change(2)]
    assert told.late([change(1), change(2)]) == []


def test_identities_are_forgotten_with_their_time_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_RECENT", 1)
    told = Reported()
    told.fresh([change(1), change(2, 5)])
    told.forget(NOON + timedelta(seconds=1), NOON)
    assert told.fresh([change(1), change(2, 5)]) == [change(1)]


def test_a_second_with_more_than_was_told_is_incomplete_once() -> None:
    told = Reported()
    told.fresh([change(1), change(2, 0.5), change(3, 1)])
    counts = {FIRST: (3, 12), FIRST + 1: (1, 3)}
    assert told.incomplete(counts) == [FIRST]
    assert told.incomplete(counts) == [FIRST]
    told.accept(counts)
    assert told.incomplete(counts) == []


def test_another_job_in_the_place_of_one_that_is_gone_is_noticed() -> None:
    told = Reported()
    told.fresh([change(1)])
    assert told.incomplete({FIRST: (1, 9)}) == [FIRST]


def test_fewer_changes_than_were_told_are_no_news() -> None:
    told = Reported()
    told.fresh([change(1), change(2)])
    assert told.incomplete({FIRST: (1, 2)}) == []
    told.accept({FIRST: (1, 2)})
    assert told.incomplete({FIRST: (2, 3)}) == [FIRST]


def test_what_was_there_before_the_first_look_is_taken_as_told() -> None:
    told = Reported()
    told.accept({FIRST: (5, 15)})
    assert told.incomplete({FIRST: (5, 15)}) == []
    told.forget(NOON, NOON + timedelta(seconds=1))
    assert told.incomplete({FIRST: (5, 15)}) == [FIRST]


def test_a_look_is_settled_when_everything_that_was_open_then_has_ended() -> None:
    settled = Watermark(NOON, LONGEST)
    times = [NOON + timedelta(seconds=5 * n) for n in range(4)]
    settled.look(times[1], 90, 100)
    assert settled.at == NOON
    settled.look(times[2], 100, 110)
    assert settled.at == NOON
    settled.look(times[3], 101, 120)
    assert settled.at == times[1]


def test_a_transaction_that_stays_open_for_ever_is_not_waited_for() -> None:
    settled = Watermark(NOON, LONGEST)
    settled.look(NOON + timedelta(hours=1), 1, 100)
    assert settled.at == NOON + timedelta(minutes=45)
