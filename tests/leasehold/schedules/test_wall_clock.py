from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from leasehold.errors import BadInput
from leasehold.schedules.wall_clock import (
    ALIASES,
    cron_ticks,
    find_zone,
    parse_cron,
    read_time,
)

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


def local_ticks(expression: str, zone: ZoneInfo, after: datetime, count: int) -> list[str]:
    """Local times with their offset, of the ticks after a local time."""
    ticks = islice(cron_ticks(parse_cron(expression), zone, after.replace(tzinfo=zone)), count)
    return [f"{tick.astimezone(zone):%d %H:%M%z}"[:-2] for tick in ticks]


def test_aliases_and_spaces_and_a_second_of_zero_are_written_as_five_fields() -> None:
    assert [parse_cron(alias.upper()) for alias in ALIASES] == list(ALIASES.values())
    assert parse_cron("  */5  *\t* * * ") == "*/5 * * * *"
    assert parse_cron("0 30 2 * * *") == "30 2 * * *"
    assert parse_cron("30 30 2 * * *") == "30 30 2 * * *"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Wrong number of fields"),
        ("* * * *", "Wrong number of fields"),
        ("* * * * * * *", "Wrong number of fields"),
        ("60 * * * *", "Bad minute"),
        ("* * * * mon-xyz", "Bad day-of-week"),
        ("*/0 * * * *", "Bad minute"),
        ("5-1 * * * *", "Bad minute"),
        ("0 0 30 2 *", "Bad day-of-month"),
        ("@reboot", "there is no cron alias '@reboot'; there are: @hourly, @daily"),
        ("1," * 400 + "1 * * * *", "at most 500 characters"),
        ("²  * * * *", "Bad minute"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_expression_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        parse_cron(text)


@pytest.mark.parametrize("name", ["Nowhere/City", "../../etc/passwd", "", "Europe", "/etc/localtime", "a\0b"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="there is no time zone"):
        find_zone(name)


def test_in_the_hour_that_is_left_out_a_fixed_time_fires_right_after_it() -> None:
    after = datetime(2026, 3, 28, 12)
    assert local_ticks("30 2 * * *", BERLIN, after, 3) == ["29 03:00+02", "30 02:30+02", "31 02:30+02"]
    after = datetime(2026, 3, 7, 12)
    assert local_ticks("30 2 * * *", NEW_YORK, after, 2) == ["08 03:00-04", "09 02:30-04"]


def test_two_fixed_times_in_that_hour_fire_once() -> None:
    assert local_ticks("0,30 2 * * *", BERLIN, datetime(2026, 3, 28, 12), 3) == [
        "29 03:00+02",
        "30 02:00+02",
        "30 02:30+02",
    ]


def test_in_the_hour_that_comes_twice_a_fixed_time_fires_the_first_time() -> None:
    assert local_ticks("30 2 * * *", BERLIN, datetime(2026, 10, 24, 12), 2) == ["25 02:30+02", "26 02:30+01"]
    assert local_ticks("30 1 * * *", NEW_YORK, datetime(2026, 10, 31, 12), 2) == ["01 01:30-04", "02 01:30-05"]


def test_asked_in_the_second_of_these_hours_it_does_not_fire_again() -> None:
    second = datetime(2026, 10, 25, 2, 15, fold=1)
    assert local_ticks("30 2 * * *", BERLIN, second, 1) == ["26 02:30+01"]


def test_with_a_star_it_fires_whenever_the_clock_shows_it() -> None:
    after = datetime(2026, 3, 29, 1, 29)
    assert local_ticks("*/30 * * * *", BERLIN, after, 3) == ["29 01:30+01", "29 03:00+02", "29 03:30+02"]
    after = datetime(2026, 11, 1, 0, 59)
    expected = ["01 01:00-04", "01 01:30-04", "01 01:00-05", "01 01:30-05", "01 02:00-05"]
    assert local_ticks("*/30 * * * *", NEW_YORK, after, 5) == expected


def test_with_seconds_it_is_taken_at_its_word() -> None:
    assert local_ticks("15 30 2 * * *", BERLIN, datetime(2026, 3, 28, 12), 1) == ["30 02:30+02"]
    assert local_ticks("15 30 2 * * *", BERLIN, datetime(2026, 10, 24, 12), 2) == ["25 02:30+02", "25 02:30+01"]


def test_the_29th_of_february_comes_in_leap_years() -> None:
    ticks = islice(cron_ticks(parse_cron("0 12 29 2 *"), BERLIN, datetime(2026, 1, 1, tzinfo=UTC)), 3)
    assert [tick.year for tick in ticks] == [2028, 2032, 2036]
    ticks = islice(cron_ticks(parse_cron("0 0 L 2 *"), find_zone("UTC"), datetime(2027, 1, 1, tzinfo=UTC)), 2)
    assert [(tick.year, tick.day) for tick in ticks] == [(2027, 28), (2028, 29)]


def test_at_the_end_of_the_calendar_there_is_nothing_more() -> None:
    ticks = list(cron_ticks("0 0 1 1 *", find_zone("UTC"), datetime(9998, 6, 1, tzinfo=UTC)))
    assert [tick.year for tick in ticks] == [9999]


def test_times_without_a_zone_are_utc() -> None:
    assert (
        read_time("2026-01-01T10:00:00") == read_time(datetime(2026, 1, 1, 10)) == datetime(2026, 1, 1, 10, tzinfo=UTC)
    )
    assert read_time("2026-01-01T10:00:00+02:00").hour == 8
