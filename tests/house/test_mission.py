"""docs/mission.md: a line for each row of the mission, with tests that exist and the truth about how far it is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([\d.]+) \| ([^|]+) \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "mission.md").read_text("utf-8"))
PARTS = {"1": 14, "2": 9, "3": 11, "4": 5, "5": 7, "6": 10, "7": 0, "8": 0, "9": 4, "10": 9}
"""How many rows each part of the mission has; 0: it is a row itself."""
MADE = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)


def test_every_row_has_its_line_in_order() -> None:
    expected = [f"{part}.{row}" for part, rows in PARTS.items() for row in range(1, rows + 1)]
    expected += [part for part, rows in PARTS.items() if not rows]
    assert sorted(expected) == sorted(row[0] for row in ROWS)
    assert len(ROWS) == 71


def test_every_line_says_how_far_it_is_and_what_is_missing() -> None:
    assert [number for number, _, far, _ in ROWS if not re.fullmatch(r"met|not yet|partly: .+", far)] == []


def test_the_tests_that_prove_a_row_exist_and_a_row_without_is_not_met() -> None:
    there = {name for path in ROOT.glob("tests/**/*.py") for name in MADE.findall(path.read_text("utf-8"))}
    named = {number: (far, re.findall(r"`(test_\w+)`", tests)) for number, _, far, tests in ROWS}
    assert {number: name for number, (_, tests) in named.items() for name in tests if name not in there} == {}
    assert [number for number, (far, tests) in named.items() if not tests and far != "not yet"] == []
