from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from leasehold.errors import BadInput
from leasehold.schedules.upcoming import beginning, next_ticks

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


def test_what_a_blackout_keeps_from_firing_is_shown_all_the_same() -> None:
    definition = {"cron": "@daily", "blackouts": [{"from": "00:00", "to": "01:00", "days": ["wed"]}]}
    assert [each.skipped for each in next_ticks(definition, NOW, 3, NOW)] == ["blackout", None, None]


def test_feb_29_comes_every_four_years() -> None:
    assert [local[:10] for local, _, _ in shown(NOW, 2, cron="0 0 29 2 *")] == ["2032-02-29", "2036-02-29"]


def test_a_schedule_that_is_over_has_no_ticks() -> None:
    assert shown(NOW, 5, at="2001-01-01T00:00:00Z") == []
    assert len(shown(NOW, 5, every=60, ends_at="2030-01-01T00:02:30Z")) == 2


@pytest.mark.parametrize("count", [0, -1, 1001])
def test_a_preview_has_one_to_a_thousand_ticks(count: int) -> None:
    with pytest.raises(BadInput, match=f"1 to 1000 ticks, not {count}"):
        shown(NOW, count, every=60)
