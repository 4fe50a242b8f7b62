from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import trio

from leasehold.actors.supervise import supervise
from leasehold.actors.upkeep.reaper import BATCH, Reaper
from leasehold.client import Client
from leasehold.database import Database
from leasehold.jobs.new_job import NewJob
from leasehold.notify.channel import Reap
from leasehold.notify.switchboard import Switchboard
from tests.support.callers import FragileCaller
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import eventually, until

# Eleven jobs stay as they are; of the others the first 500 are blocked by one of those, and the rest by nothing.
STRAND = """
with blocked as (
    update leasehold.jobs set state = 'blocked' where id > 11 returning id
)
insert into leasehold.job_blockers (job_id, slot, chain_id) select id, 1, 1 from blocked where id <= 511
"""


class Reaping:
    """A reaper that runs, and dead workers' jobs for it."""

    def __init__(self, database: Database, poll_seconds: float) -> None:
        self.database = database
        self.client = Client(database)
        self.switchboard = Switchboard()
        self.connection = FragileCaller(database)
        self.reaper = Reaper(self.connection, self.switchboard, poll_seconds, session_grace=0.0)  # ends none of ours

    async def enqueue(self, count: int = 1, max_attempts: int = 20) -> None:
        await self.client.enqueue_many([NewJob(kind="echo", max_attempts=max_attempts)] * count)

    async def abandon(self, seconds: float, count: int = 1) -> None:
        """Claim jobs under a lease of so many seconds that nobody renews."""
        await self.database.fetch(
            "select * from leasehold.claim_jobs($1, 'gone', batch => $2, lease => make_interval(secs => $3))",
            uuid4(),
            count,
            seconds,
        )

    async def states(self) -> list[str]:
        return [job.state for job in await self.client.jobs.list()]

    async def back(self, count: int = 1) -> None:
        """Until so many jobs are pending again."""

        async def probe() -> bool:
            rows = await self.database.fetch("select count(*) from leasehold.jobs where state = 'pending'")
            return rows[0][0] == count

        await eventually(probe)


@asynccontextmanager
async def reaping(database: Database, poll_seconds: float = 600.0) -> AsyncGenerator[Reaping]:
    bundle = Reaping(database, poll_seconds)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, bundle.reaper)
        yield bundle
        bundle.reaper.drain()
        await until(lambda: not nursery.child_tasks)


async def test_a_clock_that_was_set_back_is_followed_and_told(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with database.reserve("ahead") as connection:
        await freeze(connection, (datetime.now(UTC) + timedelta(hours=1)).isoformat())
        await connection.call("set_limit", "default", "", None, 1.0, 1, timeout=None)
        await enqueue_many(connection, [{"kind": "a"}])
        await SqlWorker(connection).claim()
        await connection.call("reap_jobs")
    await Reaper(database, Switchboard(), 600.0).reap()
    assert "the clock of the database was set back by about" in caplog.text
    (row,) = await database.fetch("select filled_at <= clock_timestamp() as is_past from leasehold.rate_buckets")
    assert row["is_past"]


async def test_a_lease_is_taken_back_when_it_runs_out_and_not_at_the_next_poll(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = Reaping(database, 600.0)
    await bundle.enqueue()
    await bundle.abandon(0.3)
    async with reaping(database) as bundle:
        await bundle.back()
        await until(lambda: bundle.reaper.statistics().reaped == 1)
        assert (await bundle.client.jobs.timeline(1))[-1].event == "reaped"
    assert "took back job 1: the lease of attempt 1 on worker gone ran out; now pending" in caplog.text


async def test_jobs_of_a_queue_that_says_so_gain_priority_with_age(database: Database) -> None:
    async with reaping(database, 0.02) as bundle:
        await bundle.client.enqueue_many([NewJob(kind="low"), NewJob(kind="high", priority=1)])
        await database.fetch("update leasehold.jobs set run_at = run_at - interval '1 hour'")
        await bundle.client.queues.set_ageing("default", timedelta(hours=1))
        await database.fetch("update leasehold.queues set aged_at = aged_at - interval '1 hour'")
        await until(lambda: bundle.reaper.statistics().aged == 1)
        assert [job.priority for job in await bundle.client.jobs.list()] == [1, 1]


async def test_it_looks_at_once_when_told_to_and_after_missing_notifications(database: Database) -> None:
    async with reaping(database) as bundle:
        for wake in (lambda: bundle.switchboard.publish(Reap()), bundle.switchboard.publish_reconnect):
            rounds = bundle.reaper.statistics().rounds
            await until(lambda: "next_expiry_in" in bundle.connection.calls)
            await bundle.enqueue()
            await bundle.abandon(1e-6)
            wake()
            await until(lambda rounds=rounds: bundle.reaper.statistics().rounds > rounds)
            await bundle.back()
            await bundle.database.fetch("delete from leasehold.jobs")


async def test_a_job_whose_attempts_are_used_up_fails(database: Database) -> None:
    bundle = Reaping(database, 600.0)
    await bundle.enqueue(max_attempts=1)
    await bundle.abandon(1e-6)
    async with reaping(database) as bundle:

        async def probe() -> bool:
            return await bundle.states() == ["failed"]

        await eventually(probe)
        assert (await bundle.client.get(1)).error["type"] == "LeaseExpired"


async def test_jobs_stranded_behind_a_key_that_nobody_holds_are_promoted(database: Database) -> None:
    client = Client(database)
    for _ in range(2):
        await client.enqueue("echo", key="customer 7")
    await database.fetch("delete from leasehold.jobs where state = 'pending'")
    async with reaping(database) as bundle:
        await bundle.back()
        await until(lambda: bundle.reaper.statistics().promoted == 1)


async def test_a_deadline_is_kept_when_it_comes_and_not_at_the_next_poll(database: Database) -> None:
    await Client(database).enqueue("echo", deadline=datetime.now(UTC) + timedelta(seconds=0.3))
    async with reaping(database) as bundle:
        await until(lambda: bundle.reaper.statistics().expired == 1)
        assert await bundle.states() == ["failed"]
        assert (await bundle.client.get(1)).error["type"] == "DeadlineExceeded"


async def test_blocked_jobs_whose_chains_completed_unseen_are_unblocked(database: Database) -> None:
    """More of them than a sweep looks at in one call, behind others that are blocked for good reason."""
    client = Client(database)
    await client.enqueue_many([NewJob(kind="echo")] * (2 * BATCH + 11))
    await database.fetch(STRAND)
    async with reaping(database) as bundle:
        await until(lambda: bundle.reaper.statistics().unblocked == BATCH + 500)
        rows = await database.fetch("select state, count(*) from leasehold.jobs group by 1 order by 1")
        assert [tuple(row) for row in rows] == [("blocked", 500), ("pending", BATCH + 511)]
        rounds = bundle.reaper.statistics().rounds
        bundle.switchboard.publish(Reap())
        await until(lambda: bundle.reaper.statistics().rounds > rounds)
        assert bundle.reaper.statistics().unblocked == BATCH + 500


async def test_two_reapers_take_each_job_back_once(database: Database) -> None:
    bundle = Reaping(database, 600.0)
    await bundle.enqueue(300)
    await bundle.abandon(1e-6, 300)
    async with reaping(database) as one, reaping(database) as two:
        await bundle.back(300)
        await until(lambda: one.reaper.statistics().reaped + two.reaper.statistics().reaped == 300)
    assert (await database.fetch("select count(*) from leasehold.job_events where event = 'reaped'"))[0][0] == 300
    assert (await database.fetch("select max(attempt) from leasehold.jobs"))[0][0] == 1


async def test_a_row_that_somebody_has_locked_holds_up_no_other(database: Database) -> None:
    bundle = Reaping(database, 600.0)
    await bundle.enqueue(3)
    await bundle.abandon(1e-6, 3)
    async with database.transaction() as transaction:
        await transaction.fetch("select 1 from leasehold.jobs where id = 2 for update")
        async with reaping(database, poll_seconds=0.05) as bundle:
            await bundle.back(2)
    assert await bundle.states() == ["pending", "claimed", "pending"]


async def test_a_lost_connection_is_survived(database: Database) -> None:
    bundle = Reaping(database, 0.05)
    await bundle.enqueue()
    async with reaping(database, poll_seconds=0.05) as bundle:
        bundle.connection.lose_request = {"next_expiry_in"}
        bundle.connection.lose_reply = {"reap_jobs"}
        await until(lambda: not bundle.connection.lose_request and not bundle.connection.lose_reply)
        await bundle.abandon(1e-6)
        await bundle.back()
