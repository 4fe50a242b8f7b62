from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from typing import cast

import trio
from trio.testing import MockClock

from leasehold.actors.supervise import supervise
from leasehold.actors.upkeep.due_jobs import CALM_SECONDS, DueJobs, wait_until_due
from leasehold.client import Client
from leasehold.database import Caller, Database
from leasehold.jobs.new_job import NewJob
from leasehold.notify.channel import TickNotice, Wake
from leasehold.notify.switchboard import Switchboard
from tests.support.callers import FragileCaller
from tests.support.waiting import eventually, until


class Scheduling:
    """A scheduler that runs."""

    def __init__(self, database: Database, poll_seconds: float) -> None:
        self.database = database
        self.client = Client(database)
        self.switchboard = Switchboard()
        self.connection = FragileCaller(database)
        self.scheduler = DueJobs(self.connection, self.switchboard, poll_seconds)

    async def asleep(self) -> None:
        """Until it has looked and waits."""
        await until(lambda: "next_due_in" in self.connection.calls)
        await trio.testing.wait_all_tasks_blocked(0.01)

    async def due(self, job_id: int) -> None:
        async def probe() -> bool:
            return (await self.client.get(job_id)).state == "pending"

        await eventually(probe)

    async def late(self, job_id: int) -> float:
        """How many seconds after its time the database saw the job become pending; asked by a trigger."""
        rows = await self.database.fetch(
            "select extract(epoch from m.at - j.run_at)::float8 from public.made_due m join leasehold.jobs j using (id)"
            " where id = $1",
            job_id,
        )
        return rows[0][0]


@asynccontextmanager
async def scheduling(database: Database, poll_seconds: float = 600.0) -> AsyncGenerator[Scheduling]:
    bundle = Scheduling(database, poll_seconds)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, bundle.scheduler)
        yield bundle
        bundle.scheduler.drain()
        await until(lambda: not nursery.child_tasks)


AUDIT = """
create table public.made_due (id bigint, at timestamptz);
create function public.note() returns trigger language plpgsql as $$
begin insert into public.made_due values (new.id, clock_timestamp()); return new; end $$;
create trigger note after update on leasehold.jobs for each row
  when (old.state = 'scheduled' and new.state = 'pending') execute function public.note()
"""


async def test_a_scheduled_job_becomes_claimable_at_its_time(database: Database) -> None:
    await database.execute(AUDIT)
    job_id = await Client(database).enqueue("echo", delay=timedelta(seconds=0.3))
    async with scheduling(database) as bundle:
        await bundle.due(job_id)  # in far less than the poll interval
        assert await bundle.late(job_id) >= 0


async def test_every_wake_up_may_mean_an_earlier_job(database: Database) -> None:
    async with scheduling(database) as bundle:
        wakes = (
            lambda: bundle.switchboard.publish(TickNotice()),
            lambda: bundle.switchboard.publish(Wake("any")),
            bundle.switchboard.publish_reconnect,
        )
        for wake in wakes:
            await bundle.asleep()
            job_id = await bundle.client.enqueue("echo", delay=0.05)
            wake()
            await bundle.due(job_id)


async def test_a_wake_up_costs_one_look_where_nothing_is_due(database: Database) -> None:
    await Client(database).enqueue("echo", delay=3600)
    async with scheduling(database) as bundle:
        await bundle.asleep()
        bundle.switchboard.publish(Wake("any"))
        await until(lambda: len(bundle.connection.calls) > 2)
        await bundle.asleep()
        assert bundle.connection.calls == ["make_jobs_due", "next_due_in", "next_due_in"]


async def test_of_many_wake_ups_each_second_has_one_look(autojump_clock: MockClock) -> None:
    asked: list[float] = []

    class Database:
        async def call_value(self, function: str, *args: object) -> float | None:
            if function == "next_due_in":
                asked.append(trio.current_time())
            return None

    switchboard = Switchboard()
    scheduler = DueJobs(cast("Caller", Database()), switchboard, 600.0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(scheduler.run)
        for _ in range(100):
            await trio.sleep(0.05)
            switchboard.publish(Wake("any"))
        scheduler.drain()
    assert 5 <= len(asked) <= 6
    assert all(later - earlier >= CALM_SECONDS for earlier, later in pairwise(asked))


async def test_without_any_wake_up_the_poll_finds_it(database: Database) -> None:
    async with scheduling(database, poll_seconds=0.1) as bundle:
        await bundle.asleep()
        await bundle.due(await bundle.client.enqueue("echo", delay=0.01))


async def test_two_schedulers_make_each_job_due_once(database: Database) -> None:
    await database.execute(AUDIT)
    await Client(database).enqueue_many([NewJob(kind="echo", delay=0.05)] * 200)
    async with scheduling(database), scheduling(database):

        async def all_are_due() -> bool:
            return (await database.fetch("select count(distinct id) from public.made_due"))[0][0] == 200

        await eventually(all_are_due)
    assert (await database.fetch("select count(*) from public.made_due"))[0][0] == 200


async def test_jobs_that_came_due_while_nobody_looked_are_made_due_at_the_start(database: Database) -> None:
    job_id = await Client(database).enqueue("echo", delay=60)
    await database.fetch("update leasehold.jobs set run_at = now() - interval '1 day'")
    async with scheduling(database) as bundle:
        await bundle.due(job_id)


def test_the_next_due_job_is_waited_for_exactly_and_a_locked_one_is_looked_at_again_soon() -> None:
    assert wait_until_due(None, 5.0, progress=False) == 5.0
    assert wait_until_due(0.3, 5.0, progress=False) == 0.3
    assert wait_until_due(60.0, 5.0, progress=False) == 5.0
    assert wait_until_due(0.0, 5.0, progress=True) == 0.001
    assert wait_until_due(-0.0001, 5.0, progress=False) == 0.001
    assert wait_until_due(-0.02, 5.0, progress=False) == 0.02
    assert wait_until_due(-60.0, 5.0, progress=False) == 0.05
    assert wait_until_due(-60.0, 5.0, progress=True) == 0.001
    assert wait_until_due(-60.0, 0.01, progress=False) == 0.01
