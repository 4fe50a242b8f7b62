from __future__ import annotations

from datetime import timedelta

import pytest
import trio
import trio.testing

from leasehold.actors.leases.sweeper import BATCH, BUSY_TIMES, LeaseSweeper
from leasehold.database import Database
from leasehold.events import JobReaped
from leasehold.observability.observers import Observers
from tests.support.callers import FragileCaller
from tests.support.sql_jobs import enqueue_many, job
from tests.support.sql_worker import SqlWorker


class Counting(LeaseSweeper):
    """Notes when it looks."""

    looks: list[float]

    async def sweep(self) -> int:
        self.looks.append(trio.current_time())
        return 0


def sweeper(database: Database, observers: Observers | None = None) -> LeaseSweeper:
    return LeaseSweeper(database, 0.001, lambda: True, observers or Observers())


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


async def test_it_blames_nobody_before_it_has_had_the_database_for_long_enough(database: Database) -> None:
    await abandon(database, 1)
    await sweeper(database).sweep()
    assert (await job(database, 1))["spared_attempts"] == 1


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
