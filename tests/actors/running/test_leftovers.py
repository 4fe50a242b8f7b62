from __future__ import annotations

from itertools import pairwise
from math import inf

from leasehold.actors.attempts.outcome import Completed
from leasehold.actors.running.settler import FIRST_SECONDS, LATE_AFTER, LONGEST_SECONDS, Leftovers
from tests.support.held import held_job


def test_an_outcome_is_due_again_after_waits_that_double_up_to_a_limit() -> None:
    leftovers, outcome, now = Leftovers(), Completed(held_job(1), None), 0.0
    waits: list[float] = []
    for _ in range(12):
        leftovers.keep(outcome, now)
        waits.append(leftovers.due_in(now))
        assert leftovers.due(now + waits[-1] / 2) == []
        now += waits[-1] + 1e-6
        assert leftovers.due(now) == [outcome]
    assert waits[0] == FIRST_SECONDS
    assert all(later <= 2.001 * earlier for earlier, later in pairwise(waits))
    assert round(waits[-1], 3) == LONGEST_SECONDS


def test_the_one_that_is_due_the_longest_comes_first() -> None:
    leftovers = Leftovers()
    first, second = Completed(held_job(2), None), Completed(held_job(1), None)
    leftovers.keep(first, 0.0)
    leftovers.keep(second, 1.0)
    assert leftovers.due(2.0) == [first, second]
    leftovers.keep(first, 2.0)
    assert leftovers.due(3.0) == [second, first]
    leftovers.forget([first, second], [first])
    assert (leftovers.due(3.0), leftovers.job_ids(), len(leftovers)) == ([first], [2], 1)


def test_without_any_there_is_nothing_to_wait_for() -> None:
    assert (Leftovers().due_in(5.0), Leftovers().due(5.0), len(Leftovers())) == (inf, [], 0)


def test_in_a_hurry_all_are_due_at_once() -> None:
    leftovers = Leftovers()
    outcome = Completed(held_job(1), None)
    for _ in range(9):
        leftovers.keep(outcome, 0.0)
    leftovers.hurry(1.0)
    assert outcome in leftovers.due(1.0)


def test_people_hear_of_an_outcome_once_and_not_before_it_is_late() -> None:
    leftovers, outcome = Leftovers(), Completed(held_job(7), None)
    leftovers.keep(outcome, 0.0)
    assert leftovers.untold(LATE_AFTER / 2) == []
    assert leftovers.untold(LATE_AFTER) == [7]
    assert (leftovers.late(LATE_AFTER / 2), leftovers.late(LATE_AFTER)) == (0, 1)
    assert leftovers.untold(LATE_AFTER + 5) == []
