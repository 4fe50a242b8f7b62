"""All rules over one history."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from faults.checker.calls import judge_calls
from faults.checker.charges import judge_charges
from faults.checker.effects import judge_effects
from faults.checker.exclusion import judge_exclusion
from faults.checker.fencing import judge_fencing
from faults.checker.hygiene import judge_hygiene
from faults.checker.order import judge_order
from faults.checker.ticks import judge_ticks
from faults.checker.totals import judge_totals
from faults.checker.violation import Violation
from faults.history.history import History

RULES: tuple[Callable[[History], Iterator[Violation]], ...] = (
    judge_totals,
    judge_fencing,
    judge_exclusion,
    judge_order,
    judge_charges,
    judge_ticks,
    judge_effects,
    judge_calls,
    judge_hygiene,
)


def judge(history: History, most: int = 100) -> list[Violation]:
    """What is wrong, at most so many findings of each rule; an empty list when every invariant holds."""
    found: list[Violation] = []
    for rule in RULES:
        for violation, _ in zip(rule(history), range(most), strict=False):
            found.append(violation)
    return found
