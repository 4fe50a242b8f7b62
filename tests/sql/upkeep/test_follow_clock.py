"""The clock runs until one, then it is set back to noon. Each test did something at one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from leasehold.database import Database, ReservedConnection
from tests.support.sql_books import books, close, finish, totals
from tests.support.sql_identities import add, give_back, take
from tests.support.sql_jobs import enqueue, enqueue_many, state
from tests.support.sql_limits import limit
from tests.support.sql_schedules import create, schedule
from tests.support.sql_unique import enqueue_one
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker

HOUR = timedelta(hours=1)


@asynccontextmanager
async def at_one(database: Database) -> AsyncGenerator[ReservedConnection]:
    async with database.reserve("clocked") as connection:
        await at(connection, "13:00")
        await connection.call("reap_jobs")
        yield connection


async def at(connection: ReservedConnection, time: str) -> None:
    await freeze(connection, f"2026-03-01 {time}Z")


async def set_back(connection: ReservedConnection, time: str = "12:00") -> None:
    """The clock is set back, and a reaper does its next round."""
    await at(connection, time)
    await connection.call("reap_jobs")
    assert await connection.call_value("follow_clock") == HOUR


async def test_a_clock_that_goes_on_changes_nothing(database: Database) -> None:
    async with at_one(database) as connection:
        for time in ("13:00:01", "13:00:00.5", "14:00"):
            await at(connection, time)
            await connection.call("reap_jobs")
            assert await connection.call_value("follow_clock") is None


async def test_it_looks_again_for_a_minute_and_not_for_longer(database: Database) -> None:
    async with at_one(database) as connection:
        await set_back(connection)
        for time, told in (("12:00:59", HOUR), ("12:01", None)):
            await at(connection, time)
            assert await connection.call_value("follow_clock") == told


async def test_workers_alone_notice_it_too(database: Database) -> None:
    async with at_one(database) as connection:
        for time, has_something_to_do in (
            ("13:00:02", False),
            ("12:00", True),
            ("12:00:59", True),
            ("12:01:59", False),
        ):
            await at(connection, time)
            (row,) = await connection.call("look_for_work", None, timedelta(seconds=1))
            assert (row["is_reap_turn"], row["has_expired"]) == (True, has_something_to_do)


async def test_a_rate_goes_on_with_what_was_left(database: Database) -> None:
    async with at_one(database) as connection:
        await limit(connection, rate=1.0, burst=5)
        await enqueue_many(connection, [{"kind": "a"}] * 10)
        assert len(await SqlWorker(connection).claim()) == 5
        await set_back(connection)
        assert await SqlWorker(connection).claim() == []
        await at(connection, "12:00:02")
        assert len(await SqlWorker(connection).claim()) == 2


async def test_the_job_of_a_dead_worker_comes_back_after_one_lease(database: Database) -> None:
    async with at_one(database) as connection:
        job_id = await enqueue(connection)
        await SqlWorker(connection).claim(lease=30.0)
        await set_back(connection)
        for time, taken_back in (("12:00:29", 0), ("12:00:30", 1)):
            await at(connection, time)
            assert len(await connection.call("reap_jobs")) == taken_back
        assert await state(connection, job_id) == "pending"


async def test_a_lease_that_was_renewed_since_stays_as_it_is(database: Database) -> None:
    async with at_one(database) as connection:
        worker = SqlWorker(connection)
        await enqueue(connection)
        jobs = await worker.claim(lease=30.0)
        await at(connection, "12:00")
        await worker.renew(jobs, lease=20.0)
        await set_back(connection, "12:00")
        [row] = await connection.fetch("select claimed_at, heartbeat_at, lease_expires_at from leasehold.jobs")
        assert row["claimed_at"] == row["heartbeat_at"] == row["lease_expires_at"] - timedelta(seconds=20)
        assert await worker.complete(jobs) == {}


async def test_a_row_that_was_locked_has_its_turn_when_it_is_free(database: Database) -> None:
    async with at_one(database) as connection:
        await enqueue(connection)
        await SqlWorker(connection).claim(lease=30.0)
        async with open_transaction(database, "holder") as holder:
            await holder.fetch("select from leasehold.jobs for update")
            await set_back(connection)
        await at(connection, "12:00:05")
        assert await connection.call_value("follow_clock") == HOUR
        await at(connection, "12:00:35")
        assert len(await connection.call("reap_jobs")) == 1


async def test_workers_live_if_they_beat_and_are_dead_if_they_do_not(database: Database) -> None:
    async with at_one(database) as connection:
        beating, silent = SqlWorker(connection, "beating"), SqlWorker(connection, "silent")
        for worker in (beating, silent):
            await worker.register(heartbeat_seconds=10.0)
        await enqueue(connection)
        await beating.claim(lease=1.0)
        await at(connection, "13:00:01")
        assert len(await connection.call("reap_jobs")) == 1  # it was taken for dead, and beats
        await beating.beat()
        await set_back(connection, "12:00:01")
        await at(connection, "12:00:30")
        await beating.beat()
        found = await connection.fetch("select worker_id, state from leasehold.all_workers order by 1")
        assert [tuple(row) for row in found] == [("beating", "ready"), ("silent", "stale")]


async def test_a_command_is_valid_for_as_long_as_it_was_to_be(database: Database) -> None:
    async with at_one(database) as connection:
        worker = SqlWorker(connection)
        await worker.register(heartbeat_seconds=600.0)
        await connection.call("command_worker", "w1", "pause", "{}", timedelta(seconds=30))
        await set_back(connection)
        await at(connection, "12:00:31")
        [beat] = await connection.call("heartbeat_worker", worker.incarnation, 0, "ready", True)
        assert beat["commands"] is None


async def test_a_window_of_a_unique_key_ends(database: Database) -> None:
    async with at_one(database) as connection:
        unique = {"window": 60}
        await enqueue_one(connection, unique=unique)
        await set_back(connection)
        for time, outcome in (("12:00:59", "existing"), ("12:01:01", "created")):
            await at(connection, time)
            assert (await enqueue_one(connection, unique=unique))[1] == outcome


async def test_ageing_goes_on(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await at(connection, "11:00")
        await enqueue_many(connection, [{"kind": "low"}, {"kind": "high", "priority": 5}])
        await at(connection, "13:00")
        await connection.call("set_ageing", "default", timedelta(minutes=1))
        await connection.call("reap_jobs")
        await set_back(connection)
        await at(connection, "12:01")
        assert await connection.call_value("age_jobs") == 1


async def test_a_mark_hides_no_job_that_comes_after_it(database: Database) -> None:
    async with at_one(database) as connection:
        await enqueue(connection)
        await connection.fetch("select leasehold.raise_marks(array(select ctid from leasehold.jobs))")
        await SqlWorker(connection).claim()
        await set_back(connection)
        job_id = await enqueue(connection)
        assert [job["job_id"] for job in await SqlWorker(connection).claim()] == [job_id]


async def test_egress_identities_cool_and_are_leased_for_as_long_as_they_were_to_be(database: Database) -> None:
    async with at_one(database) as connection:
        cooling, leased = await add(connection, "cooling", cool_seconds=20.0), await add(connection, "leased")
        await give_back(connection, await take(connection, wanted="cooling"), "busy", 30.0)
        await take(connection, wanted="leased", seconds=40.0)
        await set_back(connection)
        for time, free in (("12:00:29", []), ("12:00:31", [cooling]), ("12:00:41", [cooling, leased])):
            await at(connection, time)
            rows = await connection.call("list_identities")
            assert sorted(row["identity_id"] for row in rows if row["state"] == "ready") == free


async def test_minutes_are_counted_again_and_no_count_goes_down(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 12:00:30Z", count=3)
        await close(connection, "2026-03-01 13:00Z")
        await connection.call("reap_jobs")
        assert (await totals(database))["completed"] == 3
        await set_back(connection)
        assert (await totals(database))["completed"] == 3
        await finish(connection, "2026-03-01 12:00:40Z", count=2)
        await close(connection, "2026-03-01 12:02:05Z")
    assert (await totals(database))["completed"] == 5
    assert await books(database, "completed") == [("12:00", "q", 5)]


async def test_schedules_are_planned_anew(database: Database) -> None:
    async with at_one(database) as connection:
        await create(connection)
        await set_back(connection)
        assert (await schedule(connection))["planned_from"] == (await connection.call_value("clock"))
