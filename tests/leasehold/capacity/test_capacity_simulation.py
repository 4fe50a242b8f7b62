"""The forecast against a small simulation; docs/capacity.md has the large one."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest

from tools.capacity_picture import Point, picture
from tools.capacity_simulation import DOCS, PICTURE, Case, ahead, drawing, steady, tables


@pytest.mark.parametrize("variation", [0.0, 0.5, 1.0, 4.0])
def test_run_times_are_drawn_with_the_mean_and_variation_asked_for(variation: float) -> None:
    draw = drawing(2.0, variation, random.Random(1))
    times = [draw() for _ in range(40_000)]
    mean = sum(times) / len(times)
    assert mean == pytest.approx(2.0, rel=0.05)
    assert sum((each - mean) ** 2 for each in times) / len(times) / mean**2 == pytest.approx(variation, rel=0.1)


@pytest.mark.parametrize(("slots", "variation"), [(1, 1.0), (3, 0.0), (10, 1.0)])
def test_in_the_long_run_the_forecast_is_about_right(slots: int, variation: float) -> None:
    case = steady(slots, 0.8, variation, jobs=100_000)
    assert case.predicted_average == pytest.approx(case.measured_average, rel=0.15)
    assert case.predicted == pytest.approx(case.measured, rel=0.15)


@pytest.mark.parametrize(("busy", "backlog"), [(0.8, 1000), (1.2, 0)])
def test_behind_a_backlog_and_under_too_much_load_the_forecast_is_about_right(busy: float, backlog: int) -> None:
    case = ahead(10, busy, 1.0, backlog, repeats=5)
    assert case.predicted == pytest.approx(case.measured, rel=0.1)


def test_the_tables_and_the_picture_show_every_case() -> None:
    cases = [
        Case("steady", 3, 0.8, 1.0, 0, 1.0, 1.1, 4.0, 4.2),
        Case("ahead", 10, 1.2, 4.0, 500, None, None, 90.0, 100.0),
    ]
    text = tables(cases, [(3.0, 1.0, 2.0, 5, 0.996)])
    assert "| 3 | 80% | 1 | 1.000 | 1.100 | 4.00 | 4.20 | -5% |" in text
    assert "| 10 | 120% | 4 | 500 | 90 s | 100 s | -10% |" in text
    assert "| 3 | 1 | 2 | 5 | 99.6% |" in text
    drawn = ElementTree.fromstring(picture([Point(4.0, 4.2, 1.0, False), Point(90.0, 100.0, 4.0, True)]))
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}circle"))) == 4


def test_the_page_has_the_picture_and_the_tables() -> None:
    assert "in time |" in (DOCS / "capacity.md").read_text()
    ElementTree.fromstring(PICTURE.read_text())
