"""A plan: the same seed gives the same faults at the same times."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec

from faults.schedule.kinds import KINDS


class Planned(msgspec.Struct, frozen=True):
    """A fault to come, `at` seconds after the load began; `seed` is for its own choices."""

    at: float
    name: str
    hold: float
    seed: int


def plan(seed: int, seconds: float, every: float, names: Sequence[str] | None = None) -> list[Planned]:
    """Faults for a run of so many seconds, one in `every` seconds on the average; of these kinds, or of all.

    Each kind comes once before chance chooses, as far as the time allows.
    """
    dice = Random(seed)
    kinds = list(names or KINDS)
    first = dice.sample(kinds, len(kinds))
    planned: list[Planned] = []
    at = every / 2
    while at < seconds:
        name = first.pop() if first else dice.choices(kinds, [KINDS[kind].weight for kind in kinds])[0]
        low, high = KINDS[name].hold
        planned.append(Planned(round(at, 3), name, round(dice.uniform(low, high), 3), dice.getrandbits(32)))
        at += every * dice.uniform(0.5, 1.5)
    return planned
