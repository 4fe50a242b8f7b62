from __future__ import annotations

from leasehold.observability.outage import OutageReminder


def test_an_outage_is_said_when_it_begins_and_then_once_a_minute() -> None:
    reminder = OutageReminder()
    reminder.begin(1000.0)
    assert [reminder.due(1000.0 + seconds) for seconds in (0, 1, 59, 60, 61, 120)] == [
        "began",
        None,
        None,
        "lasts",
        None,
        "lasts",
    ]
    assert reminder.seconds(1120.0) == 120.0


def test_nothing_is_said_of_an_outage_that_ends_within_a_minute_of_the_last_line() -> None:
    reminder = OutageReminder()
    reminder.begin(1000.0)
    reminder.due(1000.0)
    reminder.begin(1010.0)
    assert reminder.due(1010.0) is None
    assert not reminder.was_said


def test_an_outage_that_outlasts_that_minute_is_said_as_one_that_began() -> None:
    reminder = OutageReminder()
    reminder.begin(1000.0)
    reminder.due(1000.0)
    reminder.begin(1010.0)
    assert reminder.due(1060.0) == "began"
    assert reminder.was_said
