from __future__ import annotations

from datetime import datetime

from leasehold.database import Caller, Database
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue, pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")
ONE = NOON.replace(hour=13)


async def found(caller: Caller, most: int = 100) -> list[tuple[int, int, bool]]:
    rows = await caller.call("find_failures", NOON, ONE, most)
    return sorted((row["job_id"], row["attempt"], row["is_final"]) for row in rows)


async def test_failed_attempts_lost_leases_and_failed_jobs_of_the_time_are_found_once_each(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-01-01 11:59Z")
        await pile_up(connection, 4)
        early = await worker.claim(1)
        await worker.fail(early, discard=[True])
        await freeze(connection, "2030-01-01 12:00Z")
        jobs = await worker.claim(3)
        await worker.fail(jobs[:1], retry_in=[5.0])
        await worker.fail(jobs[1:2], discard=[True])
        await freeze(connection, "2030-01-01 12:10Z")
        await expire(connection, jobs[2]["job_id"])
        await connection.call("reap_jobs")
        assert await found(connection) == [(2, 1, False), (3, 1, True), (4, 1, False)]
        await freeze(connection, "2030-01-01 13:00Z")
        again = await worker.claim(1)
        await worker.fail(again, discard=[True])
        assert await found(connection) == [(2, 1, False), (3, 1, True), (4, 1, False)]


async def test_a_job_that_failed_for_good_because_its_lease_ran_out_counts_once(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-01-01 12:00Z")
        job_id = await enqueue(connection, max_attempts=1)
        await worker.claim(1)
        await freeze(connection, "2030-01-01 12:10Z")
        await expire(connection, job_id)
        await connection.call("reap_jobs")
        assert await found(connection) == [(job_id, 1, True)]


async def test_it_reads_no_more_than_it_is_told_and_says_so(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-01-01 12:00Z")
        await pile_up(connection, 5)
        await worker.fail(await worker.claim(5), discard=[True] * 5)
        assert await found(connection, 3) == [(3, 1, True), (4, 1, True), (5, 1, True)]
        for most, is_full in ((5, True), (6, False)):
            rows = await connection.call("find_failures", NOON, ONE, most)
            assert {row["is_full"] for row in rows} == {is_full}


async def test_tracebacks_are_left_in_the_tables(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-01-01 12:00Z")
        await pile_up(connection, 1)
        await worker.fail(await worker.claim(1), {"type": "KeyError", "message": "7", "traceback": "…" * 100})
        (row,) = await connection.call("find_failures", NOON, ONE, 10)
        assert (row["error"], row["kind"]) == ('{"type": "KeyError", "message": "7"}', "echo")
