from __future__ import annotations

import json
from datetime import datetime

from leasehold.database import Caller, Database, ReservedConnection
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue, pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_worker import Json, SqlWorker, frozen_worker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")
ONE = NOON.replace(hour=13)


async def found(caller: Caller, most: int = 100) -> list[tuple[int, int, bool]]:
    rows = await caller.call("find_failures", NOON, ONE, most)
    return sorted((row["job_id"], row["attempt"], row["is_final"]) for row in rows)


async def test_failed_attempts_lost_leases_and_failed_jobs_of_the_time_are_found_once_each(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 11:59Z") as (connection, worker):
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
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        job_id = await enqueue(connection, max_attempts=1)
        await worker.claim(1)
        await freeze(connection, "2030-01-01 12:10Z")
        await expire(connection, job_id)
        await connection.call("reap_jobs")
        assert await found(connection) == [(job_id, 1, True)]


async def test_it_reads_no_more_than_it_is_told_and_says_so(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        await pile_up(connection, 5)
        await worker.fail(await worker.claim(5), discard=[True] * 5)
        assert await found(connection, 3) == [(3, 1, True), (4, 1, True), (5, 1, True)]
        for most, is_full in ((5, True), (6, False)):
            rows = await connection.call("find_failures", NOON, ONE, most)
            assert {row["is_full"] for row in rows} == {is_full}


async def test_tracebacks_are_left_in_the_tables(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        await pile_up(connection, 1)
        await worker.fail(await worker.claim(1), {"type": "KeyError", "message": "7", "traceback": "…" * 100})
        (row,) = await connection.call("find_failures", NOON, ONE, 10)
        assert (row["error"], row["kind"]) == ('{"type": "KeyError", "message": "7"}', "echo")


# The fingerprint.

BOOM: Json = {"type": "ValueError", "message": "boom", "place": "shop/jobs.py:42 in charge"}


async def names(connection: ReservedConnection, *failures: tuple[str, object]) -> list[str]:
    """The fingerprint of each failure, given as kind and error."""
    worker = SqlWorker(connection)
    await empty(connection)
    await freeze(connection, "2030-01-01 12:00Z")
    for kind, error in failures:
        await enqueue(connection, kind, max_attempts=1)
        job = await worker.claim_one()
        await connection.call("fail_jobs", worker.incarnation, [job["job_id"]], [job["attempt"]], [json.dumps(error)])
    found = {row["job_id"]: row["fingerprint"] for row in await connection.call("find_failures", NOON, ONE, 100)}
    assert len(found) == len(failures)
    assert {len(name) for name in found.values()} == {16}
    return [found[job_id] for job_id in sorted(found)]


async def test_neither_the_message_nor_the_line_counts(database: Database) -> None:
    others: list[Json] = [{"message": "bang"}, {"place": "shop/jobs.py:57 in charge"}, {"traceback": "…"}]
    async with database.reserve("clocked") as connection:
        assert len(set(await names(connection, ("pay", BOOM), *[("pay", {**BOOM, **other}) for other in others]))) == 1


async def test_the_type_and_the_function_and_the_kind_count(database: Database) -> None:
    others: list[Json] = [{"type": "KeyError"}, {"place": "shop/jobs.py:42 in refund"}]
    async with database.reserve("clocked") as connection:
        named = await names(
            connection, ("pay", BOOM), ("mail", BOOM), *[("pay", {**BOOM, **other}) for other in others]
        )
    assert len(set(named)) == 4


async def test_a_job_that_is_gone_has_a_fingerprint_of_its_own(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        await pile_up(connection, 2, "pay")
        await worker.fail(await worker.claim(2), BOOM, retry_in=[5.0] * 2)
        await connection.execute("delete from leasehold.jobs where id = 1")
        rows = await connection.call("find_failures", NOON, ONE, 100)
    assert {row["kind"] for row in rows} == {"pay", None}
    assert len({row["fingerprint"] for row in rows}) == 2


async def test_whatever_the_error_holds_it_has_a_fingerprint(database: Database) -> None:
    cases: list[object] = ["plain text", 7, [1], None, {}]
    async with database.reserve("clocked") as connection:
        assert len(set(await names(connection, *[("pay", error) for error in cases]))) == 1
