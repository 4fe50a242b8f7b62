from __future__ import annotations

import pytest

from benchmarks.figures import Figure, Spread
from benchmarks.memory import thinned
from benchmarks.report import show


@pytest.mark.parametrize(("value", "met"), [(29_999.0, False), (30_000.0, True)])
def test_a_goal_from_below_is_met_from_there_on(value: float, met: bool) -> None:
    assert Figure(name="drain", value=value, unit="jobs/s", at_least=30_000).meets_goal is met


@pytest.mark.parametrize(("value", "met"), [(10.0, True), (10.1, False)])
def test_a_goal_from_above_is_met_up_to_there(value: float, met: bool) -> None:
    assert Figure(name="wait", value=value, unit="ms", at_most=10).meets_goal is met


def test_without_a_goal_there_is_nothing_to_meet_and_without_a_floor_no_ratio() -> None:
    figure = Figure(name="wait", value=1.0, unit="ms")
    assert (figure.meets_goal, figure.ratio) == (None, None)


def test_the_ratio_is_the_multiple_of_the_floor() -> None:
    assert Figure(name="wait", value=3.0, unit="ms", floor=2.0).ratio == 1.5


def test_percentiles_are_values_of_the_sample_in_milliseconds() -> None:
    spread = Spread.of([number / 1000 for number in range(100, 0, -1)])
    assert (spread.samples, spread.p50, spread.p99, spread.longest) == (100, 51.0, 100.0, 100.0)


def test_one_value_is_a_spread() -> None:
    assert Spread.of([0.002]) == Spread(samples=1, p50=2.0, p99=2.0, longest=2.0)


def test_a_long_series_is_thinned_and_keeps_its_ends() -> None:
    points = thinned([float(number) for number in range(1000)])
    assert (len(points), points[0], points[-1]) == (12, 0.0, 999.0)
    assert thinned([5.0]) == [5.0]


@pytest.mark.parametrize(
    ("value", "text"), [(123_456.7, "123,457"), (12.34, "12.3"), (1.234, "1.23"), (0.00475, "0.00475"), (0.0, "0")]
)
def test_numbers_are_shown_with_the_digits_that_matter(value: float, text: str) -> None:
    assert show(value) == text
