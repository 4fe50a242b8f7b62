from __future__ import annotations

from collections.abc import Sequence

from leasehold.observability.health import Health, OutageReminder, Question, Verdict


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def healthy() -> tuple[Health, Clock]:
    clock = Clock()
    health = Health(30.0, clock)
    health.has_started = True
    health.database_answered()
    return health, clock


def wrong(verdicts: Sequence[Verdict]) -> list[str]:
    return [each.name for each in verdicts if each.problem is not None]


def test_a_process_that_turns_lives_is_ready_and_has_started() -> None:
    health, _ = healthy()
    health.stuck = {"dispatcher": None}
    questions: tuple[Question, ...] = ("livez", "readyz", "startupz")
    for question in questions:
        assert wrong(health.ask(question)) == []
    assert [each.name for each in health.ask("readyz")] == ["event loop", "dispatcher", "database", "start", "draining"]


def test_an_event_loop_that_has_not_turned_for_too_long_is_no_life() -> None:
    health, clock = healthy()
    clock.now += 30.0
    assert wrong(health.ask("livez")) == []
    clock.now += 0.1
    (verdict,) = health.ask("livez")
    assert verdict.problem == "it has not run for 30 s; a handler blocks it"
    health.beat()
    assert wrong(health.ask("livez")) == []


def test_a_stuck_actor_is_no_life() -> None:
    health, _ = healthy()
    health.stuck = {"dispatcher": "it has not moved for 91 s", "settler": None}
    assert wrong(health.ask("livez")) == ["dispatcher"]


def test_a_database_that_is_away_is_no_reason_for_a_restart_but_for_not_being_ready() -> None:
    health, clock = healthy()
    clock.now += 20.0
    health.beat()
    assert wrong(health.ask("livez")) == []
    assert wrong(health.ask("readyz")) == ["database"]
    assert wrong(health.ask("startupz")) == []


def test_a_database_that_refuses_is_away_at_once() -> None:
    health, _ = healthy()
    health.database_failed()
    assert wrong(health.ask("readyz")) == ["database"]
    health.database_answered()
    assert wrong(health.ask("readyz")) == []


def test_a_draining_process_lives_and_is_not_ready() -> None:
    health, _ = healthy()
    health.is_draining = True
    assert wrong(health.ask("livez")) == []
    assert wrong(health.ask("readyz")) == ["draining"]


def test_before_it_has_registered_and_the_database_has_answered_it_has_not_started() -> None:
    health = Health(30.0)
    assert wrong(health.ask("startupz")) == ["start"]
    assert wrong(health.ask("readyz")) == ["database", "start"]
    health.has_started = True
    assert wrong(health.ask("startupz")) == ["start"]
    health.database_answered()
    assert wrong(health.ask("startupz")) == []


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
    assert not reminder.was_logged


def test_an_outage_that_outlasts_that_minute_is_said_as_one_that_began() -> None:
    reminder = OutageReminder()
    reminder.begin(1000.0)
    reminder.due(1000.0)
    reminder.begin(1010.0)
    assert reminder.due(1060.0) == "began"
    assert reminder.was_logged
