from __future__ import annotations

import io
from datetime import UTC, date, datetime
from typing import Any

from rich.console import Console

from leasehold.cli.commands.schedules_month import Day, days_of, view_months
from leasehold.schedules.timetable import next_ticks

NOW = datetime(2030, 3, 20, tzinfo=UTC)


def days(count: int = 1000, after: datetime = NOW, **schedule: Any) -> list[Day]:
    ticks = next_ticks({"zone": "Europe/Berlin", **schedule}, after, count, after)
    return days_of(ticks, is_all=len(ticks) < count)


def drawn(found: list[Day]) -> list[str]:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    with console.capture() as captured:
        for part in view_months(found):
            console.print(part)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_each_day_counts_its_ticks_and_those_that_a_blackout_swallows() -> None:
    found = days(cron="0 0,12 * * *", blackouts=[{"from": "00:00", "to": "06:00"}])
    assert found[0] == Day(day=date(2030, 3, 20), ticks=1, skipped=0, clocks_change=False)
    assert found[1] == Day(day=date(2030, 3, 21), ticks=2, skipped=1, clocks_change=False)
    assert found[-1].day == date(2030, 4, 30)


def test_the_day_on_which_the_clocks_change_is_there_even_without_a_tick() -> None:
    [_, changed, *_] = days(cron="0 6 30 * *")
    assert changed == Day(day=date(2030, 3, 31), ticks=0, skipped=0, clocks_change=True)


def test_there_are_no_sheets_for_ticks_too_many_to_count() -> None:
    assert days(every=60) == days(count=5, cron="@daily") == days(at="2001-01-01T00:00:00Z") == []
    assert drawn([]) == []


def test_a_sheet_for_each_month_with_what_the_marks_mean() -> None:
    assert drawn(
        days(cron="0 3 * * sat,sun", blackouts=[{"from": "2030-04-06T00:00Z", "to": "2030-04-07T00:00Z"}])
    ) == [
        "",
        "        March 2030                     April 2030",
        "Mo  Tu  We  Th  Fr  Sa  Su     Mo  Tu  We  Th  Fr  Sa  Su",
        "                 1   2   3      1   2   3   4   5   6x  7*",
        " 4   5   6   7   8   9  10      8   9  10  11  12  13* 14*",
        "11  12  13  14  15  16  17     15  16  17  18  19  20* 21*",
        "18  19  20  21  22  23* 24*    22  23  24  25  26  27* 28*",
        "25  26  27  28  29  30* 31!    29  30",
        "* fires   x blackout   ! the clocks change",
    ]


def test_many_ticks_on_a_day_are_counted_up_to_nine() -> None:
    often = drawn(days(cron="0 */3 * * *"))
    assert "21⁸" in " ".join(often)
    assert often[-1] == "² fires so often   ! the clocks change"
    assert drawn(days(cron="0 */2 5 4 *"))[-1] == "+ more often"


def test_a_schedule_with_an_end_shows_what_is_left() -> None:
    assert [each.day.day for each in days(every=86_400, ends_at="2030-03-23T00:00:00Z")] == [21, 22, 31]
