from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import trio
import trio.testing

from leasehold.actors.leases.sweeper import BATCH, BUSY_TIMES, LeaseSweeper
from leasehold.actors.upkeep.reaping import Attendance
from leasehold.database import Database
from leasehold.events import JobReaped
from leasehold.observability.observers import Observers
from tests.support.callers import FragileCaller
from tests.support.sql_jobs import enqueue_many, job
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


class Counting(LeaseSweeper):
    """Notes when it looks."""

    looks: list[float]

    reaped = 0

    async def sweep(self) -> int:
        self.looks.append(trio.current_time())
        return 0

    async def reap(self) -> int:
        self.reaped += 1
        return 0


def sweeper(
    database: Database, observers: Observers | None = None, attendance: Attendance | None = None
) -> LeaseSweeper:
    return LeaseSweeper(database, 0.001, lambda: True, observers or Observers(), attendance=attendance)


async def abandon(database: Database, jobs: int) -> None:
    await enqueue_many(database, [{"kind": "a"}] * jobs)
    await SqlWorker(database, "gone").claim(jobs)
    await database.execute("update leasehold.jobs set claimed_at = now() - interval '61 s', lease_expires_at = now()")


async def test_it_takes_back_all_that_has_run_out_a_batch_at_a_time(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await abandon(database, BATCH + 1)
    caller = FragileCaller(database)
    assert await LeaseSweeper(caller, 0.001, lambda: True, Observers()).sweep() == BATCH + 1
    assert caller.calls.count("reap_jobs") == 2
    assert "took back job 1: the lease of attempt 1 on worker gone ran out; now pending" in caplog.text


async def test_a_clock_that_was_set_back_is_followed_and_told_once(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with database.reserve("ahead") as connection:
        await freeze(connection, (datetime.now(UTC) + timedelta(hours=1)).isoformat())
        await connection.call("reap_jobs")
        await enqueue_many(connection, [{"kind": "a"}])
        await SqlWorker(connection, "gone").claim()
    lonely = sweeper(database)
    assert await lonely.sweep() == 0
    await lonely.reap()
    assert caplog.text.count("the clock of the database was set back by about") == 1
    (row,) = await database.fetch(
        "select lease_expires_at < now() + interval '2 minutes' as is_near from leasehold.jobs"
    )
    assert row["is_near"]


async def test_it_blames_nobody_before_it_has_had_the_database_for_long_enough(database: Database) -> None:
    await abandon(database, 1)
    await sweeper(database).sweep()
    assert (await job(database, 1))["spared_attempts"] == 1


@pytest.fixture
def now() -> list[float]:
    """Seconds on the clock of those who look: each second that they have had the database is one that a test gives them."""
    return [1000.0]


async def abandon_for_an_instant(database: Database) -> None:
    """Whoever has had the database for a microsecond may blame somebody."""
    await abandon(database, 1)
    await database.execute("update leasehold.jobs set claimed_at = lease_expires_at - interval '3 us'")


async def is_charged(database: Database) -> bool:
    [row] = await database.fetch("select spared_attempts from leasehold.jobs where state = 'pending'")
    return row["spared_attempts"] == 0


async def test_who_dies_while_it_has_the_database_is_blamed(database: Database, now: list[float]) -> None:
    looking = sweeper(database, attendance=Attendance(lambda: now[0]))
    await looking.reap()
    await abandon_for_an_instant(database)
    now[0] += 1
    await looking.reap()
    assert await is_charged(database)


async def test_a_loss_that_others_notice_ends_the_time_that_it_had_the_database(
    database: Database, now: list[float]
) -> None:
    looking = sweeper(database, attendance=Attendance(lambda: now[0]))
    await looking.reap()
    await abandon_for_an_instant(database)
    now[0] += 1
    looking.database_lost()
    await looking.reap()
    assert not await is_charged(database)


async def test_the_time_that_it_waits_before_the_first_answer_is_no_time_that_it_had_the_database(
    database: Database, now: list[float]
) -> None:
    """It may have begun to wait in the middle of an outage."""
    await abandon(database, 1)
    reaped = trio.Event()
    observers = Observers()
    observers.subscribe(JobReaped, lambda _: reaped.set())
    waiting = LeaseSweeper(database, 600.0, lambda: True, observers, lambda: 0.0, Attendance(lambda: now[0]))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiting.run)
        await trio.testing.wait_all_tasks_blocked()
        now[0] += 300
        waiting.turn(True)
        await reaped.wait()
        nursery.cancel_scope.cancel()
    assert not await is_charged(database)


async def test_it_looks_only_when_it_is_its_turn(database: Database) -> None:
    await abandon(database, 1)
    await database.call("take_reap_turn", timedelta())
    assert await LeaseSweeper(database, 600.0, lambda: True, Observers()).sweep() == 0


async def test_observers_hear_of_each_job(database: Database) -> None:
    heard: list[object] = []
    observers = Observers()
    observers.subscribe(JobReaped, heard.append)
    await abandon(database, 2)
    await sweeper(database, observers).sweep()
    assert [type(event) for event in heard] == [JobReaped] * 2


@pytest.mark.parametrize(("is_idle", "gap"), [(True, 10.0), (False, 10.0 * BUSY_TIMES)])
async def test_it_looks_once_in_a_poll_interval_and_seldom_while_all_is_busy(
    database: Database, autojump_clock: trio.testing.MockClock, is_idle: bool, gap: float
) -> None:
    counting = Counting(database, 10.0, lambda: is_idle, Observers(), lambda: 1.0)
    counting.looks = []
    began = trio.current_time()
    with trio.move_on_after(4.5 * gap):
        await counting.run()
    assert [look - began for look in counting.looks] == pytest.approx([gap, 2 * gap, 3 * gap, 4 * gap])


async def test_it_looks_when_the_dispatcher_has_its_turn_and_does_not_ask_itself_meanwhile(
    database: Database, autojump_clock: trio.testing.MockClock
) -> None:
    counting = Counting(database, 10.0, lambda: True, Observers(), lambda: 1.0)
    counting.looks = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(counting.run)
        for _ in range(5):
            await trio.sleep(9.0)
            counting.turn(False)
        assert counting.looks == []
        counting.turn(True)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert counting.reaped == 1
