from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from leasehold.errors import BadInput
from leasehold.schedules.blackouts import parse_blackouts, read_time

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT: dict[str, Any] = {"from": "22:00", "to": "06:00"}


def end(document: dict[str, Any], local: datetime) -> str | None:
    """When the window that a local time in Berlin lies in ends, in local time."""
    [blackout] = parse_blackouts([document])
    ends = blackout.end_at(local.replace(tzinfo=BERLIN).astimezone(UTC), BERLIN)
    return None if ends is None else f"{ends.astimezone(BERLIN):%d %H:%M%z}"[:-2]


def test_a_window_may_go_over_midnight_and_its_end_is_outside() -> None:
    assert end(NIGHT, datetime(2026, 1, 5, 21, 59, 59)) is None
    assert end(NIGHT, datetime(2026, 1, 5, 22)) == "06 06:00+01"
    assert end(NIGHT, datetime(2026, 1, 6, 5, 59, 59)) == "06 06:00+01"
    assert end(NIGHT, datetime(2026, 1, 6, 6)) is None


def test_its_days_are_those_on_which_it_begins() -> None:
    friday_night = {**NIGHT, "days": ["fri"]}
    assert end(friday_night, datetime(2026, 1, 9, 23)) == "10 06:00+01"
    assert end(friday_night, datetime(2026, 1, 10, 5)) == "10 06:00+01"
    assert end(friday_night, datetime(2026, 1, 10, 23)) is None
    assert end(friday_night, datetime(2026, 1, 9, 5)) is None


def test_a_whole_day_ends_at_midnight() -> None:
    sunday = {"from": "00:00", "to": "24:00", "days": ["sun"]}
    assert end(sunday, datetime(2026, 1, 4, 13)) == "05 00:00+01"
    assert end({"from": "09:00", "to": "09:00"}, datetime(2026, 1, 4, 8)) == "04 09:00+01"


def test_an_end_that_clocks_leave_out_is_the_moment_after_it() -> None:
    assert end({"from": "22:00", "to": "02:30"}, datetime(2026, 3, 29, 1)) == "29 03:00+02"


def test_when_clocks_go_back_into_it_a_window_opens_again() -> None:
    window = {"from": "22:00", "to": "02:30"}
    assert end(window, datetime(2026, 10, 25, 2, 10)) == "25 02:30+02"
    assert end(window, datetime(2026, 10, 25, 2, 40)) is None
    assert end(window, datetime(2026, 10, 25, 2, 10, fold=1)) == "25 02:30+01"


def test_a_window_ends_where_clocks_go_back_to_a_time_before_it() -> None:
    window = {"from": "02:30", "to": "03:30"}
    assert end(window, datetime(2026, 10, 25, 2, 45)) == "25 02:00+01"
    assert end(window, datetime(2026, 10, 25, 2, 15, fold=1)) is None
    assert end(window, datetime(2026, 10, 25, 2, 45, fold=1)) == "25 03:30+01"


def test_a_stretch_is_from_one_moment_until_another() -> None:
    christmas = {"from": "2026-12-24T12:00:00+01:00", "to": "2026-12-27"}
    assert end(christmas, datetime(2026, 12, 24, 11, 59)) is None
    assert end(christmas, datetime(2026, 12, 24, 12)) == "27 01:00+01"
    assert end(christmas, datetime(2026, 12, 27, 1)) is None


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"from": "22:00"},
        {"from": "xx:yy", "to": "06:00"},
        {**NIGHT, "days": ["x"]},
        {"from": "soon", "to": "late"},
        "x",
        3,
    ],
)
def test_what_cannot_be_read_is_refused(document: Any) -> None:
    with pytest.raises(BadInput, match="blackouts cannot be read"):
        parse_blackouts([document])


def test_times_without_a_zone_are_utc() -> None:
    assert (
        read_time("2026-01-01T10:00:00") == read_time(datetime(2026, 1, 1, 10)) == datetime(2026, 1, 1, 10, tzinfo=UTC)
    )
    assert read_time("2026-01-01T10:00:00+02:00").hour == 8
