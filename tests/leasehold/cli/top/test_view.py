from __future__ import annotations

import io
from datetime import UTC, datetime

import msgspec
import pytest
from rich.console import Console

from leasehold.cli.top.state import Look, QueueLine, sparkline
from leasehold.cli.top.top import keys_in
from leasehold.cli.top.view import Screen, share_lines, view_top
from leasehold.records.measures import Failure, FleetMeasures

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
FLEET = FleetMeasures(
    ready=2,
    paused=0,
    draining=1,
    stale=0,
    backing_off=1,
    deaf=0,
    slots=6,
    held_jobs=4,
    overdue_jobs=3,
    lost_jobs=0,
    lost_wake_ups=2,
)


def line(name: str, jobs: int = 1) -> QueueLine:
    return QueueLine(
        queue=name, jobs={"pending": jobs}, arrived=1.5, ended=250.4, failed=0.0, oldest=61.0, history=(1, 2)
    )


def look(queues: int = 1, failures: int = 0) -> Look:
    failed = [
        Failure(at=NOON, job_id=number, attempt=1, kind="k", queue="q", worker_id=None, message="a\nb", is_final=False)
        for number in range(failures)
    ]
    lines = [line(f"q{number:03}") for number in range(queues)]
    return Look(at=NOON, seconds=1.0, fleet=FLEET, queues=lines, workers=[], failures=failed)


def shown(content: Look | None, screen: Screen, width: int, height: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(view_top(content, screen, width, height))
    return captured.get().splitlines()


def test_a_frame_has_just_the_size_of_the_terminal() -> None:
    cases: list[tuple[int, int]] = [(80, 24), (160, 50), (40, 10), (300, 100), (20, 5)]
    for width, height in cases:
        others: list[tuple[int, int]] = [(0, 0), (1, 1), (500, 300)]
        for queues, failures in others:
            lines = shown(look(queues, failures), Screen(), width, height)
            assert len(lines) == height
            assert max(map(len, lines)) <= width


def test_the_head_says_what_is_wrong_and_nothing_that_is_not() -> None:
    text = "\n".join(shown(look(), Screen(), 160, 24)[:2])
    assert "2 ready" in text
    assert "1 draining" in text
    assert "3 overdue leases" in text
    assert "2 lost wake-ups" in text
    assert "1 backing off" in text
    assert "deaf" not in text
    assert "taken back" not in text
    assert "in 1.5/s  out 250/s" in text


def test_a_section_scrolls_no_further_than_its_end() -> None:
    screen = Screen()
    for _ in range(600):
        screen.press("down")
    lines = shown(look(500), screen, 80, 24)
    assert any("q499" in each for each in lines)
    assert not any("q000" in each for each in lines)
    before = screen.offsets[0]
    screen.press("up")
    assert screen.offsets[0] == before - 1


def test_keys_change_what_is_shown() -> None:
    screen = Screen()
    assert screen.press("p")
    assert "PAUSED" in shown(look(), screen, 80, 24)[0]
    for key, section in (("tab", 1), ("tab", 2), ("tab", 0), ("back tab", 2)):
        assert screen.press(key)
        assert screen.section == section
    assert screen.press("x")
    assert not screen.press("q")


def test_before_the_first_look_and_without_a_database_it_says_so() -> None:
    assert shown(None, Screen(), 80, 24) == ["looking …"]
    assert shown(None, Screen(trouble="the database is away: x"), 80, 24) == ["the database is away: x"]
    assert "away" in shown(look(), Screen(trouble="away"), 80, 24)[0]


@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_lines_are_shared_without_rest_and_the_chosen_section_gets_more(chosen: int) -> None:
    needs = [100, 100, 100]
    given = share_lines(40, needs, chosen)
    assert sum(given) == 40
    assert given[chosen] > share_lines(40, needs, (chosen + 1) % 3)[chosen]
    assert sum(share_lines(4, needs, chosen)) == 4
    assert share_lines(40, [5, 4, 3], chosen) == [5, 4, 31]


def test_sparklines_are_as_high_as_their_highest() -> None:
    assert sparkline([], 5) == ""
    assert sparkline([0, 0], 5) == "▁▁"
    assert sparkline([1, 2, 4, 8], 3) == "▃▅█"


def test_keys_are_found_in_what_a_terminal_sends() -> None:
    assert keys_in("pq\t\x1b[Z\x1b[A\x1b[Bjk") == ["p", "q", "tab", "back tab", "up", "down", "down", "up"]
    assert keys_in("\x1b[1;5C\x04") == ["\x1b[1;5C", "q"]


def test_a_narrow_terminal_shows_which_queue_a_number_belongs_to() -> None:
    for width in (40, 60, 80, 120):
        lines = shown(look(3), Screen(), width, 20)
        rows = [row.split()[:5] for row in lines if row.startswith("q0")]
        assert rows == [[f"q00{number}", "1", "·", "·", "1m"] for number in range(3)], width


def test_a_count_that_ended_early_says_that_there_may_be_more() -> None:
    partial = msgspec.structs.replace(
        look(), queues=[msgspec.structs.replace(line("billing-eu", 1_000), is_partial=True)]
    )
    assert "ready 1,000 or more" in shown(partial, Screen(), 80, 24)[0]
    for width in (40, 80):
        rows = [row.split()[:5] for row in shown(partial, Screen(), width, 24) if row.startswith("billing")]
        assert rows == [["billing-eu", "1,000+", "·", "·", "1m"]], width
