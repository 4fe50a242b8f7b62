from __future__ import annotations

import pytest

from faults.inject.catalogue import INJECTIONS
from faults.schedule.kinds import ALWAYS, ELSEWHERE, KINDS, NOT_POSSIBLE
from faults.schedule.planning import plan


def test_a_seed_is_a_plan() -> None:
    assert plan(7, 100, 2) == plan(7, 100, 2)
    assert plan(7, 100, 2) != plan(8, 100, 2)


def test_each_kind_comes_once_before_chance_chooses() -> None:
    names = [each.name for each in plan(1, 1000, 1)]
    assert set(names[: len(KINDS)]) == set(KINDS)


def test_a_fault_lasts_as_long_as_its_kind_says_and_comes_in_time() -> None:
    for each in plan(3, 300, 1.5):
        low, high = KINDS[each.name].hold
        assert low <= each.hold <= high
        assert 0 <= each.at < 300


def test_only_the_kinds_that_were_asked_for_come() -> None:
    assert {each.name for each in plan(1, 60, 2, ["kill worker"])} == {"kill worker"}


def test_each_kind_can_be_done() -> None:
    assert INJECTIONS.keys() == KINDS.keys()


@pytest.mark.parametrize("number", [f"F{n}" for n in range(1, 36)])
def test_each_fault_of_the_matrix_is_accounted_for(number: str) -> None:
    done = {kind.number for kind in KINDS.values()}
    assert sum(number in each for each in (done, ALWAYS, ELSEWHERE, NOT_POSSIBLE)) == 1
