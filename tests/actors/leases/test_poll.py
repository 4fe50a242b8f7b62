from __future__ import annotations

from collections.abc import Mapping

import pytest

from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.leases.poll import (
    ASLEEP_AFTER,
    FIRST_POLL_SECONDS,
    PollDecay,
    SharedPoll,
    asleep_heartbeat,
    is_due,
    poll_of_each,
)
from leasehold.database import Database, Row
from tests.support.callers import FragileCaller
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker
from tests.support.turns import Turns


class Passenger:
    """Asks for an epoch at every other poll."""

    def __init__(self) -> None:
        self.asked = 0
        self.heard: list[object] = []

    def ask(self, poll: PollDecay) -> Mapping[str, object]:
        assert poll.longest == 5.0
        self.asked += 1
        return {"known": 1} if self.asked % 2 else {}

    def take_answer(self, row: Row) -> None:
        self.heard.append(row["epoch"])


async def test_who_rides_is_answered_and_who_does_not_is_not(database: Database) -> None:
    caller, turns, passenger = FragileCaller(database), Turns(), Passenger()
    look = SharedPoll(caller, WorkerIdentity("w1"), PollDecay(5.0), turns)
    look.carry(passenger)
    for _ in range(4):
        assert await look.ask() is None
    assert passenger.asked == 4
    assert len(passenger.heard) == 2
    assert caller.calls == ["look_for_work"] * 4


async def test_it_is_its_turn_to_reap_where_a_lease_has_run_out(database: Database) -> None:
    turns = Turns()
    look = SharedPoll(database, WorkerIdentity("w1"), PollDecay(5.0), turns)
    await enqueue(database)
    await SqlWorker(database).claim(1)
    await look.ask()
    await database.execute("update leasehold.jobs set claimed_at = now() - interval '61 s', lease_expires_at = now()")
    await look.ask()
    assert turns.turns == [False, True]


@pytest.mark.parametrize(("age", "due"), [(0.0, False), (3.9, False), (4.1, True), (9.0, True), (float("inf"), True)])
def test_what_cannot_wait_for_the_next_poll_rides_on_this_one(age: float, due: bool) -> None:
    assert is_due(age, period=10.0, next_in=5.0) is due


def test_polls_grow_from_twenty_milliseconds_to_the_interval_and_start_over_after_activity() -> None:
    poll = PollDecay(longest=5.0, draw=lambda: 1.0)
    assert [poll.wait() for _ in range(6)] == pytest.approx([0.02, 0.08, 0.32, 1.28, 5.0, 5.0])
    poll.reset()
    assert poll.wait() == pytest.approx(FIRST_POLL_SECONDS)


def test_polls_are_jittered_by_a_tenth_and_never_longer_than_the_interval() -> None:
    assert PollDecay(longest=5.0, draw=lambda: 0.0).wait() == pytest.approx(0.9 * FIRST_POLL_SECONDS)
    assert PollDecay(longest=0.004, draw=lambda: 1.0).wait() == pytest.approx(0.004)


def test_up_to_32_idle_workers_poll_each_at_the_interval_and_more_in_turns_until_their_heartbeats() -> None:
    assert [poll_of_each(5.0, workers, 30.0) for workers in (0, 1, 32, 64, 500)] == pytest.approx([5, 5, 5, 10, 27])
    assert poll_of_each(60.0, 500, 30.0) == 60.0


def test_a_worker_of_a_large_fleet_that_had_no_job_for_ten_minutes_polls_half_as_often_until_it_has_one() -> None:
    now = 0.0
    poll = PollDecay(5.0, draw=lambda: 1.0, clock=lambda: now)
    poll.share(5.0, workers=500, heartbeat=30.0)
    waits = [poll.wait() for _ in range(7)]
    assert waits[-1] == poll.longest == pytest.approx(27.0)
    now = ASLEEP_AFTER
    assert poll.wait() <= poll.longest == pytest.approx(54.0)
    assert poll.wait() == pytest.approx(54.0)
    poll.reset()
    assert poll.wait() == pytest.approx(FIRST_POLL_SECONDS)
    assert poll.longest == pytest.approx(27.0)


def test_in_a_small_fleet_it_goes_on_polling_as_before() -> None:
    now = 0.0
    poll = PollDecay(5.0, clock=lambda: now)
    poll.share(5.0, workers=100, heartbeat=30.0)
    awake, now = poll.longest, ASLEEP_AFTER
    assert poll.longest == awake


@pytest.mark.parametrize(("awake", "asleep"), [(1.0, 2.0), (30.0, 60.0), (40.0, 60.0), (60.0, 60.0), (600.0, 600.0)])
def test_who_is_asleep_beats_half_as_often_but_once_a_minute(awake: float, asleep: float) -> None:
    assert asleep_heartbeat(awake) == asleep


def test_where_heartbeats_are_a_minute_apart_nobody_sleeps_more_deeply() -> None:
    now = 0.0
    poll = PollDecay(5.0, clock=lambda: now)
    poll.share(5.0, workers=5_000, heartbeat=60.0)
    now = ASLEEP_AFTER
    assert not poll.is_asleep
    assert poll.longest == pytest.approx(54.0)


def test_waiting_for_a_due_job_keeps_nobody_awake() -> None:
    now = 0.0
    poll = PollDecay(5.0, clock=lambda: now)
    poll.share(5.0, workers=500, heartbeat=30.0)
    now = ASLEEP_AFTER
    poll.hurry()
    assert poll.is_asleep
    poll.reset()
    assert not poll.is_asleep
