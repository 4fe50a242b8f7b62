"""The table and the picture of the peers: from rounds to medians and ratios."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks.peers.contestants import CONTESTANTS, OURS
from benchmarks.peers.table import markdown, picture, ratio

ROUNDS = {
    OURS: {"single": [900.0, 1_000.0, 5_000.0], "pickup p50": [2.0]},
    "other": {"single": [500.0], "pickup p50": [3.0], "bulk": [7.0]},
}


def test_a_ratio_says_how_many_times_as_good_ours_is() -> None:
    assert ratio(1000, 500, more_is_better=True) == 2
    assert ratio(2, 3, more_is_better=False) == 1.5
    assert ratio(0, 3, more_is_better=False) is None


def test_the_table_has_medians_ratios_and_a_dash_for_what_was_not_measured() -> None:
    lines = markdown(ROUNDS).splitlines()
    assert lines[0] == f"| | {OURS} | other |"
    assert lines[2] == "| enqueue one by one, jobs/s | 1,000 | 500 (2 ×) |"
    assert lines[3] == "| enqueue, 1,000 a call, jobs/s | – | 7 |"
    assert lines[4] == "| pick-up, p50, ms | 2 | 3 (1.5 ×) |"
    assert len(lines) == 5


def test_the_picture_is_an_svg_with_a_bar_for_each_value_of_more_is_better() -> None:
    bars = ElementTree.fromstring(picture(ROUNDS)).findall("{http://www.w3.org/2000/svg}rect")
    assert len(bars) == 1 + 3  # and the background


def test_each_contestant_has_a_name_of_its_own() -> None:
    assert len({each.name for each in CONTESTANTS}) == len(CONTESTANTS)
