from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from leasehold.actors.upkeep.ticks import Due, Firing, Tick, decide, plan
from leasehold.schedules.timetable import MICROSECOND, Timetable

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EVERY_MINUTE = Timetable.of({"every": 60}, now=NOON)


def due(late: timedelta = timedelta(), **fields: Any) -> Due:
    """A schedule whose next tick was at noon, looked at so much later."""
    values: dict[str, Any] = {
        "id": 1, "name": "s", "revision": 3, "is_planned": True, "next_run_at": NOON, "planned_from": NOON, "last_tick_at": None,
        "missed": "coalesce", "grace": 60.0, "catch_up_limit": 3, "query": None, "query_timeout": 30.0, "query_rows": 10,
        "now": NOON + late, **fields,
    }  # fmt: skip
    return Due(**values)


def decided(late: timedelta, timetable: Timetable = EVERY_MINUTE, **fields: Any) -> tuple[list[str], datetime | None]:
    """The ticks in short, `+2` for one that fires two minutes after noon, and when the next one is."""
    firing = decide(due(late, **fields), timetable)
    assert firing is not None
    return [short(tick) for tick in firing.ticks], firing.next


def short(tick: Tick) -> str:
    minutes = (tick.at - NOON) // MINUTE
    if tick.outcome == "fired":
        return f"+{minutes}"
    assert tick.last_at is not None
    return f"{minutes}..{(tick.last_at - NOON) // MINUTE} {tick.reason} {tick.ticks}"


def test_before_its_time_nothing_happens() -> None:
    assert decide(due(-MICROSECOND), EVERY_MINUTE) is None
    assert decide(due(next_run_at=None), EVERY_MINUTE) is None


@pytest.mark.parametrize("missed", ["skip", "catch_up", "coalesce"])
def test_a_tick_within_the_grace_fires_whatever_the_policy(missed: str) -> None:
    assert decided(timedelta(), missed=missed) == (["+0"], NOON + MINUTE)
    assert decided(timedelta(seconds=59), missed=missed) == (["+0"], NOON + MINUTE)
    assert decided(MINUTE, missed=missed) == (["+0", "+1"], NOON + 2 * MINUTE)


def test_missed_ticks_are_skipped() -> None:
    assert decided(10.5 * MINUTE, missed="skip") == (["0..9 missed 10", "+10"], NOON + 11 * MINUTE)
    assert decided(10.5 * MINUTE, missed="skip", grace=1.0) == (["0..10 missed 11"], NOON + 11 * MINUTE)


def test_missed_ticks_are_caught_up_with_as_far_as_the_limit_goes() -> None:
    assert decided(3.5 * MINUTE, missed="catch_up") == (["+0", "+1", "+2", "+3"], NOON + 4 * MINUTE)
    assert decided(10.5 * MINUTE, missed="catch_up") == (
        ["0..6 catch_up_limit 7", "+7", "+8", "+9", "+10"],
        NOON + 11 * MINUTE,
    )


def test_missed_ticks_become_one() -> None:
    assert decided(10.5 * MINUTE, grace=1.0) == (["0..9 coalesced 10", "+10"], NOON + 11 * MINUTE)
    assert decided(0.5 * MINUTE, grace=1.0) == (["+0"], NOON + MINUTE)


def test_and_that_one_is_the_punctual_one_where_there_is_one() -> None:
    assert decided(10.5 * MINUTE) == (["0..9 coalesced 10", "+10"], NOON + 11 * MINUTE)
    assert decided(2.5 * MINUTE, grace=100.0) == (["0..0 coalesced 1", "+1", "+2"], NOON + 3 * MINUTE)


def test_a_year_of_missed_ticks_is_one_row_that_nobody_counts() -> None:
    every_second = Timetable.of({"every": 1}, now=NOON)
    firing = decide(due(timedelta(days=365), missed="skip", grace=0.0), every_second)
    assert firing is not None
    [skipped, on_time] = firing.ticks
    assert (skipped.ticks, skipped.last_at) == (None, on_time.at - timedelta(seconds=1))
    assert on_time.at == NOON + timedelta(days=365)


def test_of_very_many_punctual_ticks_some_are_left_for_the_next_round() -> None:
    every_second = Timetable.of({"every": 1}, now=NOON)
    firing = decide(due(timedelta(hours=1), grace=7200.0), every_second)
    assert firing is not None
    assert len(firing.ticks) == 1001
    assert firing.next == NOON + timedelta(seconds=1001)


def test_the_last_tick_has_none_after_it() -> None:
    once = Timetable.of({"at": NOON})
    assert decided(timedelta(), once) == (["+0"], None)
    assert decided(timedelta(days=9), once) == (["+0"], None), "however late, unless it is to be skipped"
    assert decided(timedelta(days=9), once, missed="skip") == (["0..0 missed 1"], None)


def test_a_tick_that_our_time_zones_do_not_know_is_dealt_with_all_the_same() -> None:
    odd = NOON + timedelta(seconds=17)
    firing = decide(
        due(timedelta(hours=1), next_run_at=odd, missed="catch_up", grace=3590.0), Timetable.of({"cron": "0 0 * * *"})
    )
    assert firing is not None
    assert [tick.at for tick in firing.ticks] == [odd]


@given(
    late=some.integers(0, 3 * 10**9),
    grace=some.floats(0, 600),
    missed=some.sampled_from(["skip", "catch_up", "coalesce"]),
    limit=some.integers(1, 10),
)
def test_every_tick_until_now_is_dealt_with_once_and_none_after(
    late: int, grace: float, missed: str, limit: int
) -> None:
    item = due(timedelta(microseconds=late), grace=grace, missed=missed, catch_up_limit=limit)
    firing = decide(item, EVERY_MINUTE)
    assert firing is not None
    dealt = [at for tick in firing.ticks for at in covered(tick)]
    assert dealt == [NOON, *EVERY_MINUTE.between(NOON, item.now, 10_000)]
    assert firing.next == EVERY_MINUTE.after(dealt[-1])
    assert firing.next is not None
    assert firing.next > item.now
    fired = [tick.at for tick in firing.ticks if tick.outcome == "fired"]
    punctual = [at for at in dealt if at >= item.now - timedelta(seconds=grace)]
    assert set(punctual) <= set(fired)
    missed_fired = len(fired) - len(punctual)
    assert missed_fired <= {"skip": 0, "catch_up": limit, "coalesce": 0 if punctual else 1}[missed]
    assert missed == "skip" or fired


def covered(tick: Tick) -> list[datetime]:
    """All ticks that a row stands for."""
    covers = [tick.at] if tick.last_at is None else [tick.at, *EVERY_MINUTE.between(tick.at, tick.last_at, 10_000)]
    assert tick.ticks in {None, len(covers)}
    return covers


def test_a_plan_begins_after_the_schedule_did() -> None:
    assert plan(due(), EVERY_MINUTE).next_run_at == NOON + MINUTE
    assert plan(due(last_tick_at=NOON + 5 * MINUTE), EVERY_MINUTE).next_run_at == NOON + 6 * MINUTE
    assert plan(due(last_tick_at=NOON - 5 * MINUTE), EVERY_MINUTE).next_run_at == NOON + MINUTE


def test_a_one_shot_in_the_past_is_planned_until_it_was_dealt_with() -> None:
    past = Timetable.of({"at": NOON - MINUTE})
    assert plan(due(), past).next_run_at == NOON - MINUTE
    assert plan(due(last_tick_at=NOON - MINUTE), past).next_run_at is None
    assert plan(due(last_tick_at=NOON - 2 * MINUTE), past).next_run_at == NOON - MINUTE


def firing(count: int) -> Firing:
    ticks = [Tick(at=NOON + n * MINUTE, outcome="fired") for n in range(count)]
    return Firing(id=1, revision=1, expected=NOON, next=NOON + count * MINUTE, ticks=ticks)


def test_many_rows_for_many_ticks_are_made_some_at_a_time() -> None:
    some_rows = firing(5).with_rows([{}] * 10_000)
    assert (len(some_rows.ticks), some_rows.next) == (2, NOON + 2 * MINUTE)
    assert (len(firing(5).with_rows([{}] * 4000).ticks), firing(5).with_rows([]).next) == (5, NOON + 5 * MINUTE)
    assert len(firing(5).with_rows([{}] * 99_999).ticks) == 1


def test_a_failure_takes_the_place_of_what_would_have_fired() -> None:
    skipped = Tick(at=NOON - MINUTE, outcome="skipped", reason="missed", ticks=1, last_at=NOON - MINUTE)
    one = firing(1)
    failed = Firing(id=1, revision=1, expected=NOON, next=None, ticks=[skipped, *one.ticks], rows=[1]).failed("why")
    assert [(tick.outcome, tick.error) for tick in failed.ticks] == [("skipped", None), ("failed", "why")]
    assert (failed.rows, failed.fires, one.fires) == (None, False, True)
