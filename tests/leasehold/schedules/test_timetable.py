from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from leasehold.errors import BadInput
from leasehold.schedules.timetable import MICROSECOND, Timetable, beginning, next_ticks

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def table(**fields: Any) -> Timetable:
    return Timetable.of({"anchor": NOON, **fields} if "every" in fields else fields)


def test_an_interval_keeps_to_its_anchor_however_late_one_asks() -> None:
    each = table(every=90)
    assert each.after(NOON) == NOON + timedelta(seconds=90)
    assert each.after(NOON + timedelta(days=1000, seconds=1)) == NOON + timedelta(days=1000, seconds=90)
    assert each.after(NOON - DAY) == NOON, "the anchor is the first"
    assert table(every=1.000001).after(NOON) == NOON + timedelta(seconds=1, microseconds=1)


def test_a_one_shot_comes_once() -> None:
    once = table(at="2026-01-05T12:00:00Z")
    assert once.after(NOON - MICROSECOND) == NOON
    assert once.after(NOON) is None


def test_ticks_begin_and_end() -> None:
    bounded = table(cron="* * * * *", starts_at=NOON, ends_at=NOON + 3 * MINUTE)
    assert bounded.between(NOON - DAY, NOON + DAY, 99) == [NOON, NOON + MINUTE, NOON + 2 * MINUTE]
    assert bounded.after(NOON + 2 * MINUTE) is None


def test_the_latest_ticks_of_a_long_time_are_found_without_counting_all_of_it() -> None:
    latest, older = table(every=1).latest(NOON, NOON + 365 * DAY, 3)
    assert latest == [NOON + 365 * DAY - timedelta(seconds=n) for n in (2, 1, 0)]
    assert older is None
    latest, older = table(every=60).latest(NOON, NOON + HOUR, 3)
    assert (latest[-1], len(latest), older) == (NOON + HOUR, 3, 58)
    assert table(every=60).latest(NOON, NOON, 3) == ([NOON], 0)


@pytest.mark.parametrize(
    "fields",
    [
        {"cron": "x"},
        {"cron": "* * * * *", "zone": "Mars"},
        {"at": "soon"},
        {"every": 1e30},
        {"every": 5, "anchor": None},
    ],
    ids=str,
)
def test_what_cannot_be_read_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        table(**fields)


def test_an_interval_that_is_not_saved_yet_counts_from_now() -> None:
    assert Timetable.of({"every": 60}, now=NOON).after(NOON) == NOON + MINUTE
    assert Timetable.of({"every": 60, "starts_at": "2026-01-06T00:00:00Z"}, now=NOON).after(NOON) == NOON + 12 * HOUR


# Around the days on which clocks change, in steps that hit whole and half hours often.
CHANGES = [(2026, 3, 8), (2026, 3, 29), (2026, 10, 25), (2026, 11, 1), (2028, 2, 28)]


@some.composite
def moments(draw: some.DrawFn) -> datetime:
    day = datetime(*draw(some.sampled_from(CHANGES)), tzinfo=UTC)
    return day + timedelta(minutes=draw(some.integers(-24 * 60, 24 * 60)))


EXPRESSIONS = some.sampled_from(
    [
        "30 2 * * *",
        "0,30 2 * * *",
        "*/15 * * * *",
        "0 */2 * * *",
        "15 1,2,3 * * *",
        "0 0 * * *",
        "0 0 29 2 *",
        "30 30 2 * * *",
        "*/20 59 1 * * *",
    ]
)
ZONES = some.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"])


@settings(max_examples=60)
@given(expression=EXPRESSIONS, zone=ZONES, moment=moments())
def test_the_next_tick_is_the_same_from_wherever_one_asks(expression: str, zone: str, moment: datetime) -> None:
    times = table(cron=expression, zone=zone)
    tick = times.after(moment)
    assert tick is not None
    assert tick > moment
    for asked in (moment + (tick - moment) / 2, tick - MICROSECOND, tick - timedelta(seconds=1)):
        assert asked < moment or times.after(asked) == tick


@settings(max_examples=60)
@given(expression=EXPRESSIONS, zone=ZONES, moment=moments())
@example("*/15 * * * *", "America/New_York", datetime(2026, 11, 1, tzinfo=UTC))
def test_walking_and_asking_one_by_one_give_the_same(expression: str, zone: str, moment: datetime) -> None:
    times = table(cron=expression, zone=zone)
    walked = times.between(moment, moment + 2 * DAY, 50)
    asked: list[datetime] = []
    at = times.after(moment)
    while at is not None and at <= moment + 2 * DAY and len(asked) < 50:
        asked.append(at)
        at = times.after(at)
    assert walked == asked == sorted(set(asked))


@given(every=some.integers(1_000_000, 10**12), late=some.integers(0, 10**15), most=some.integers(1, 20))
def test_the_latest_ticks_of_an_interval_are_the_ones_before_the_end(every: int, late: int, most: int) -> None:
    times = Timetable.of({"every": every / 1e6}, now=NOON)
    until = NOON + timedelta(microseconds=late)
    latest, older = times.latest(NOON, until, most)
    assert latest == sorted(latest)
    assert latest[-1] <= until
    following = times.after(latest[-1])
    assert following is not None
    assert following > until
    assert older is None or older + len(latest) == late // every + 1


NOW = datetime(2030, 1, 1, tzinfo=UTC)
Shown = list[tuple[str, str | None, float]]
SPRING, AUTUMN = datetime(2030, 3, 30, 12, tzinfo=UTC), datetime(2030, 10, 26, 12, tzinfo=UTC)


def shown(after: datetime, count: int, zone: str = "Europe/Berlin", **schedule: Any) -> Shown:
    ticks = next_ticks({"zone": zone, **schedule}, after, count, NOW)
    return [(each.local.isoformat(), each.note, each.clock_change) for each in ticks]


@pytest.mark.parametrize(
    ("at", "missed", "last_tick_at", "is_due"),
    [
        ("2029-12-31T00:00:00Z", "coalesce", None, True),
        ("2029-12-31T00:00:00Z", "skip", None, False),
        ("2029-12-31T23:59:30Z", "skip", None, True),
        ("2029-12-31T00:00:00Z", "coalesce", NOW, False),
        ("2030-01-02T00:00:00Z", "skip", None, True),
    ],
    ids=["missed", "skipped", "within the grace", "has fired", "to come"],
)
def test_a_one_shot_is_to_come_as_long_as_the_scheduler_would_fire_it(
    at: str, missed: str, last_tick_at: datetime | None, is_due: bool
) -> None:
    schedule = {"zone": "UTC", "at": at, "missed": missed, "grace": 60.0, "last_tick_at": last_tick_at}
    assert bool(next_ticks(schedule, beginning(schedule, NOW), 1, NOW)) is is_due


def test_a_time_that_the_clocks_skip_is_marked_as_moved() -> None:
    assert shown(SPRING, 2, cron="30 2 * * *") == [
        ("2030-03-31T03:00:00+02:00", "moved", 3600.0),
        ("2030-04-01T02:30:00+02:00", None, 0.0),
    ]
    assert shown(datetime(2030, 3, 10, 5, tzinfo=UTC), 1, "America/New_York", cron="30 2 * * *") == [
        ("2030-03-10T03:00:00-04:00", "moved", 3600.0)
    ]


def test_a_time_that_comes_twice_is_marked_whether_both_are_ticks_or_one() -> None:
    assert shown(AUTUMN, 2, cron="30 2 * * *") == [
        ("2030-10-27T02:30:00+02:00", "repeated", 0.0),
        ("2030-10-28T02:30:00+01:00", None, -3600.0),
    ]
    around = shown(datetime(2030, 10, 26, 23, 15, tzinfo=UTC), 4, cron="30 * * * *")
    assert [(local[11:], note, change) for local, note, change in around] == [
        ("01:30:00+02:00", None, 0.0),
        ("02:30:00+02:00", "repeated", 0.0),
        ("02:30:00+01:00", "repeated_again", -3600.0),
        ("03:30:00+01:00", None, 0.0),
    ]


def test_intervals_know_no_clocks_but_show_what_these_do() -> None:
    ticks = shown(datetime(2030, 3, 31, 0, 30, tzinfo=UTC), 2, every=3600)
    assert ticks == [("2030-03-31T03:00:00+02:00", None, 3600.0), ("2030-03-31T04:00:00+02:00", None, 0.0)]


def test_aliases_and_seconds_are_no_moved_times() -> None:
    assert [note for _, note, _ in shown(NOW, 40, cron="@hourly")] == [None] * 40
    assert [note for _, note, _ in shown(NOW, 3, cron="15 30 2 * * *")] == [None] * 3
    assert [note for _, note, _ in shown(NOW, 3, cron="0 6 L * *")] == [None] * 3


def test_feb_29_comes_every_four_years() -> None:
    assert [local[:10] for local, _, _ in shown(NOW, 2, cron="0 0 29 2 *")] == ["2032-02-29", "2036-02-29"]


def test_a_schedule_that_is_over_has_no_ticks() -> None:
    assert shown(NOW, 5, at="2001-01-01T00:00:00Z") == []
    assert len(shown(NOW, 5, every=60, ends_at="2030-01-01T00:02:30Z")) == 2


@pytest.mark.parametrize("count", [0, -1, 1001])
def test_a_preview_has_one_to_a_thousand_ticks(count: int) -> None:
    with pytest.raises(BadInput, match=f"1 to 1000 ticks, not {count}"):
        shown(NOW, count, every=60)
