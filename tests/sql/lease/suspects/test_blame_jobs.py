"""Who is charged when a worker dies, seen through reap_jobs, which is the only one to ask."""

from __future__ import annotations

import json
from datetime import timedelta

import trio

from leasehold.database import Caller, Database, Row
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue, enqueue_many, job
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker, frozen_worker
from tests.support.waiting import PATIENCE

A_MINUTE_LONG = "update leasehold.jobs set claimed_at = lease_expires_at - interval '1 minute' where id = any ($1)"
AGO = """
update leasehold.jobs set claimed_at = claimed_at - interval '1 minute';
update leasehold.workers set heartbeat_at = heartbeat_at - interval '1 minute'
"""


async def die(caller: Caller, *job_ids: int) -> None:
    """The leases of these jobs run out, and a reaper comes."""
    for job_id in job_ids:
        await expire(caller, job_id)
    await caller.call("reap_jobs")


async def die_unseen(caller: Caller, seconds: float, *job_ids: int) -> None:
    """The leases of these jobs run out, and a reaper comes that has had the database for so long."""
    for job_id in job_ids:
        await expire(caller, job_id)
    await caller.fetch(A_MINUTE_LONG, list(job_ids))
    await caller.call("reap_jobs", 1000, None, timedelta(seconds=seconds))


async def third_death(database: Database) -> tuple[SqlWorker, list[Row]]:
    """Three registered workers fall silent with job 1, one after the other; the last of them, and what it claimed."""
    deaths: list[tuple[SqlWorker, list[Row]]] = []
    for number in range(3):
        worker = SqlWorker(database, f"w{number}")
        await worker.register()
        deaths.append((worker, await worker.claim()))
        await database.execute(AGO)  # so that its lease is as long as the minute after which it is judged
        await die(database, 1)
    return deaths[-1]


async def record(caller: Caller, job_id: int) -> tuple[str, int, int]:
    """State, attempts that count, crashes."""
    row = await job(caller, job_id)
    return row["state"], row["attempt"] - row["spared_attempts"], row["crashes"]


async def test_a_single_job_that_was_held_is_charged(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    await die(database, 1)
    assert await record(database, 1) == ("pending", 1, 1)


async def test_without_a_suspect_all_become_suspects_and_nobody_is_charged(
    database: Database, worker: SqlWorker
) -> None:
    await worker.given_all([{"kind": "a"}] * 3)
    await die(database, 1, 2, 3)
    assert [await record(database, n) for n in (1, 2, 3)] == [("pending", 0, 1)] * 3


async def test_one_suspect_is_charged_and_its_neighbours_are_not(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    await die(database, 1)
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await SqlWorker(database, "w2").claim()
    await die(database, 1, 2, 3)
    assert await record(database, 1) == ("pending", 2, 2)
    assert [await record(database, n) for n in (2, 3)] == [("pending", 0, 0)] * 2


async def test_the_poison_is_found_among_many_and_its_neighbours_all_complete(database: Database) -> None:
    """Ten jobs, of which number 7 kills every worker that has it."""
    await enqueue_many(database, [{"kind": "a", "max_attempts": 2}] * 10)
    for number in range(40):
        worker = SqlWorker(database, f"w{number}")
        claimed = await worker.claim(10)
        if not claimed:
            break
        held = [row["job_id"] for row in claimed]
        if 7 in held:
            await die(database, *held)
        else:
            await worker.complete(claimed)
    rows = {row["id"]: row for row in await database.call("list_jobs")}
    assert {row["state"] for job_id, row in rows.items() if job_id != 7} == {"completed"}
    assert rows[7]["state"] == "failed"
    assert max(row["attempt"] - row["spared_attempts"] for job_id, row in rows.items() if job_id != 7) == 1


async def test_after_three_it_is_in_quarantine_whatever_attempts_are_left(database: Database) -> None:
    await enqueue(database, max_attempts=20)
    for number in range(3):
        await SqlWorker(database, f"w{number}").claim()
        await die(database, 1)
    row = await job(database, 1)
    assert (row["state"], row["attempt"], row["crashes"]) == ("failed", 3, 3)
    assert json.loads(row["error"]) == {
        "type": "Quarantined",
        "message": "3 processes died while they ran this job, the last one on worker w2",
    }


async def test_a_retry_begins_anew(database: Database) -> None:
    await enqueue(database)
    for number in range(3):
        await SqlWorker(database, f"w{number}").claim()
        await die(database, 1)
    await database.call("retry_job", 1)
    await SqlWorker(database, "again").claim()
    await die(database, 1)
    assert (await record(database, 1))[::2] == ("pending", 1)


async def test_a_job_with_one_attempt_never_runs_twice(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a", "max_attempts": 1}, {"kind": "a"}])
    await die(database, 1, 2)
    row = await job(database, 1)
    assert (row["state"], json.loads(row["error"])["type"]) == ("failed", "LeaseExpired")
    assert await record(database, 2) == ("pending", 0, 1)


async def test_a_job_on_its_last_attempt_survives_the_death_of_a_neighbour(database: Database) -> None:
    await enqueue(database)
    await SqlWorker(database, "first").claim()
    await die(database, 1)
    await enqueue(database, max_attempts=2)
    worker = SqlWorker(database, "second")
    claimed = await worker.claim()
    await worker.fail(claimed[1:], retry_in=[0.0])
    await worker.claim()
    await die(database, 1, 2)
    assert await record(database, 2) == ("pending", 1, 0)


async def test_leases_of_the_same_dead_worker_that_run_out_later_belong_to_the_same_crash(database: Database) -> None:
    worker = SqlWorker(database)
    await worker.register()
    await worker.given_all([{"kind": "a"}] * 3)
    for job_id in (1, 2, 3):
        await die(database, job_id)
    assert [await record(database, n) for n in (1, 2, 3)] == [("pending", 0, 1)] * 3
    (row,) = await database.fetch("select lost_jobs, blamed_job from leasehold.workers")
    assert tuple(row) == (3, None)


async def test_the_suspect_of_a_crash_is_remembered_for_the_leases_that_run_out_later(database: Database) -> None:
    await enqueue(database)
    await SqlWorker(database, "first").claim()
    await die(database, 1)
    worker = SqlWorker(database, "second")
    await worker.register()
    await worker.given_all([{"kind": "a"}] * 2)
    for job_id in (1, 2, 3):
        await die(database, job_id)
    assert [await record(database, n) for n in (1, 2, 3)] == [("pending", 2, 2), ("pending", 0, 0), ("pending", 0, 0)]
    assert (await database.fetch("select blamed_job from leasehold.workers"))[0][0] == 1


async def test_a_suspect_whose_own_lease_runs_out_last_is_blamed_all_the_same(database: Database) -> None:
    await enqueue(database)
    await SqlWorker(database, "first").claim()
    await die(database, 1)
    worker = SqlWorker(database, "second")
    await worker.register()
    await worker.given()
    await die(database, 2)
    await die(database, 1)
    assert [await record(database, n) for n in (1, 2)] == [("pending", 2, 2), ("pending", 0, 0)]


async def test_a_worker_that_lives_on_is_judged_anew(database: Database) -> None:
    """It blocks again and again on another job: no old verdict protects that one."""
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register()
        await enqueue_many(connection, [{"kind": "a"}] * 2)
        for hour in range(13, 20):
            await worker.claim(1)
            await freeze(connection, f"2026-03-01 {hour}:00Z")
            await connection.call("reap_jobs")
            await freeze(connection, f"2026-03-01 {hour}:01Z")
        assert [(await record(connection, n))[::2] for n in (1, 2)] == [("failed", 3), ("failed", 3)]


async def test_workers_are_judged_one_by_one(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 3)
    await SqlWorker(database, "single").claim(1)
    await SqlWorker(database, "double").claim(2)
    await die(database, 1, 2, 3)
    assert [await record(database, n) for n in (1, 2, 3)] == [("pending", 1, 1), ("pending", 0, 1), ("pending", 0, 1)]


async def test_a_batch_that_is_smaller_than_what_a_worker_held(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 5)
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '1 s' where attempt = 1")
    while await database.call("reap_jobs", 2):
        pass
    assert [(await record(database, n))[2] for n in range(1, 6)] == [1] * 5


async def test_a_worker_row_that_somebody_has_locked_holds_nobody_up(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await worker.given()
    await expire(database, 1)
    async with open_transaction(database, "owner") as owner:
        await owner.execute("select 1 from leasehold.workers for update")
        with trio.fail_after(PATIENCE):
            assert len(await database.call("reap_jobs")) == 1
    assert await record(database, 1) == ("pending", 1, 1)


async def test_two_reapers_and_many_dead_workers_never_deadlock(database: Database) -> None:
    workers = [SqlWorker(database, f"w{number}") for number in range(20)]
    await enqueue_many(database, [{"kind": "a"}] * 400)
    for worker in workers:
        await worker.register()
    for _ in range(4):
        for worker in workers:
            await worker.claim(5)
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '1 s' where attempt = 1")

    async def reap(name: str) -> None:
        async with database.reserve(name) as connection:
            while await connection.call("reap_jobs", 7):
                pass

    async with trio.open_nursery() as nursery:
        for name in ("first", "second", "third"):
            nursery.start_soon(reap, name)
    rows = await database.fetch(
        "select crashes, attempt - spared_attempts as counted, count(*) from leasehold.jobs group by 1, 2"
    )
    assert [tuple(row) for row in rows] == [(1, 0, 400)]


async def test_nobody_is_blamed_for_the_death_of_a_worker_that_was_draining(database: Database) -> None:
    await enqueue(database)
    for number in range(4):
        worker = SqlWorker(database, f"w{number}")
        await worker.register()
        await worker.claim()
        await database.call("heartbeat_worker", worker.incarnation, 1, "draining", False)
        await die(database, 1)
        assert await record(database, 1) == ("pending", 0, 0)


async def test_nobody_is_blamed_by_a_reaper_that_was_away_itself(database: Database, worker: SqlWorker) -> None:
    """After an outage it is the first to come back, while the workers are still on their way."""
    await worker.register()
    await enqueue_many(database, [{"kind": "a", "max_attempts": 2}] * 2)
    for _ in range(5):
        await worker.claim()
        await die_unseen(database, 19.0, 1, 2)
    assert [await record(database, n) for n in (1, 2)] == [("pending", 0, 0)] * 2
    assert (await job(database, 1))["attempt"] == 5


async def test_somebody_is_blamed_by_a_reaper_that_had_the_database_for_a_third_of_the_lease(
    database: Database, worker: SqlWorker
) -> None:
    await worker.given()
    await die_unseen(database, 21.0, 1)
    assert await record(database, 1) == ("pending", 1, 1)


async def test_a_single_attempt_counts_whoever_was_away(database: Database, worker: SqlWorker) -> None:
    await worker.given(max_attempts=1)
    await die_unseen(database, 0.0, 1)
    assert (await job(database, 1))["state"] == "failed"


async def test_a_worker_that_was_heard_of_after_its_lease_ran_out_has_not_died_but_what_stops_it_again_is_charged(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    await enqueue(database, max_attempts=2)
    for charged in (0, 1):
        await worker.claim()
        await expire(database, 1)
        await worker.beat()
        await database.call("reap_jobs")
        assert await record(database, 1) == ("pending", charged, 0)
    await worker.claim()
    await expire(database, 1)
    await worker.beat()
    await database.call("reap_jobs")
    row = await job(database, 1)
    assert (row["state"], row["crashes"], json.loads(row["error"])["type"]) == ("failed", 0, "LeaseExpired")


async def test_a_job_is_not_put_in_quarantine_before_its_last_worker_had_a_lease_more_to_come_back(
    database: Database,
) -> None:
    await enqueue(database)
    await third_death(database)
    assert await record(database, 1) == ("claimed", 3, 3)
    assert await database.call("reap_jobs") == []
    await die(database, 1)
    row = await job(database, 1)
    assert (row["state"], json.loads(row["error"])["type"]) == ("failed", "Quarantined")


async def test_a_worker_that_comes_back_in_that_time_keeps_its_job(database: Database) -> None:
    await enqueue(database)
    worker, claimed = await third_death(database)
    await worker.beat()
    assert await worker.renew(claimed) == {}
    assert await worker.complete(claimed) == {}
    assert (await job(database, 1))["state"] == "completed"


async def test_an_outage_in_that_time_makes_it_longer(database: Database) -> None:
    await enqueue(database)
    await third_death(database)
    await die_unseen(database, 0.0, 1)
    assert await record(database, 1) == ("claimed", 3, 3)


async def test_several_suspects_that_were_held_together_are_not_charged_and_narrowed_down(
    database: Database, worker: SqlWorker
) -> None:
    await worker.given_all([{"kind": "a"}] * 3)
    await database.execute("update leasehold.jobs set crashes = 1 where id <= 2")
    await die(database, 1, 2, 3)
    assert [await record(database, n) for n in (1, 2, 3)] == [("pending", 0, 2), ("pending", 0, 2), ("pending", 0, 0)]


async def test_those_of_them_whose_leases_run_out_later_are_not_charged_either(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    await worker.given_all([{"kind": "a"}] * 3)
    await database.execute("update leasehold.jobs set crashes = 1 where id <= 2")
    for job_id in (1, 3, 2):
        await die(database, job_id)
    assert [await record(database, n) for n in (1, 2, 3)] == [("pending", 0, 2), ("pending", 0, 2), ("pending", 0, 0)]
