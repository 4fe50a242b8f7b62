"""What a benchmark hands back: named figures, each with its floor from the same run and its goal, where there is one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal

import msgspec

Size = Literal["full", "quick", "tiny"]
Say = Callable[[str], None]


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table.

    Attributes:
        name: what was measured.
        value, unit: the median where there were several rounds.
        floor: what raw asyncpg did in the same run, in the same unit.
        at_least, at_most: the goal for `value`.
    """

    name: str
    value: float
    unit: str
    floor: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def ratio(self) -> float | None:
        """The value as a multiple of the floor."""
        return self.value / self.floor if self.floor else None

    @property
    def meets_goal(self) -> bool | None:
        """None where there is no goal."""
        if self.at_least is None and self.at_most is None:
            return None
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What every benchmark returns: figures for the table; its own Struct adds what else goes into the JSON."""

    figures: Sequence[Figure]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How a sample of times is spread, in milliseconds."""

    samples: int
    p50: float
    p99: float
    longest: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Spread:
        """Of at least one time in seconds. Percentiles by nearest rank, so that no value is made up."""
        ordered = sorted(seconds)

        def rank(share: float) -> float:
            return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000

        return cls(samples=len(ordered), p50=rank(0.50), p99=rank(0.99), longest=ordered[-1] * 1000)

    def figures(
        self, name: str, floor: Spread | None = None, *, p50: float | None = None, p99: float | None = None
    ) -> list[Figure]:
        """Three lines of the table; `p50` and `p99` are goals, at the most."""
        rows = (("p50", self.p50, floor and floor.p50, p50), ("p99", self.p99, floor and floor.p99, p99))
        return [
            *(
                Figure(name=f"{name}, {what}", value=value, unit="ms", floor=below, at_most=goal)
                for what, value, below, goal in rows
            ),
            Figure(name=f"{name}, max", value=self.longest, unit="ms", floor=floor and floor.longest),
        ]


def middle(values: Sequence[float]) -> float:
    """The median of the rounds."""
    return median(values)
