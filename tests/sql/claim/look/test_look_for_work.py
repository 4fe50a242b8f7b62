from __future__ import annotations

import json
from datetime import timedelta

from leasehold.database import Database
from tests.support.epochs import begin_epoch, fail_over
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

EVERY = timedelta(minutes=1)
VITALS = json.dumps({"active_jobs": 2, "state": "paused", "listening": True, "slots": 4, "memory": 0.5, "rss": 77})


async def test_it_tells_when_to_claim_and_whose_turn_it_is_to_reap(database: Database) -> None:
    [row] = await database.call("look_for_work", None, EVERY)
    assert (row["next_claim_in"], row["is_reap_turn"], row["has_expired"]) == (None, True, False)
    assert (row["epoch"], row["position"], row["is_known"], row["are_told"]) == (None, None, None, None)
    await enqueue(database)
    [row] = await database.call("look_for_work", [], EVERY)
    assert (row["next_claim_in"], row["is_reap_turn"], row["has_expired"]) == (0.0, False, None)


async def test_it_expects_jobs_as_a_worker_that_asks_for_nothing_else(database: Database) -> None:
    async with database.reserve("clocked") as connection:

        async def expect() -> list[object]:
            [row] = await connection.call("look_for_work", None, EVERY)
            return [row["next_claim_in"], await connection.call_value("next_claim_in")]

        await freeze(connection, "2026-03-01 12:00Z")
        await enqueue_many(connection, [{"kind": "a", "delay": 7200}])
        assert await expect() == [None, 7200.0], "it polls again long before"
        await enqueue_many(connection, [{"kind": "a", "delay": 60}])
        assert await expect() == [60.0, 60.0]
        await freeze(connection, "2026-03-01 12:02Z")
        assert await expect() == [-60.0, -60.0]
        await connection.execute(
            "update leasehold.jobs set state = 'waiting', key = 'k' where run_at < '2026-03-01 13:00Z'"
        )
        assert await expect() == [0.0, 0.0]
        await connection.execute("delete from leasehold.jobs")
        assert await expect() == [None, None]
        await connection.execute("insert into leasehold.lane_marks values ('{}', '{}', 0, 0, '2000-01-01', 0, now())")
        assert await expect() == [0.0, 0.0], "where lanes have marks a claim is the cheaper look"


async def test_whose_turn_it_is_learns_of_leases_that_have_run_out(database: Database) -> None:
    await enqueue(database)
    await SqlWorker(database).claim(1)
    [row] = await database.call("look_for_work", None, timedelta())
    assert (row["is_reap_turn"], row["has_expired"]) == (True, False)
    await database.execute("update leasehold.jobs set claimed_at = now() - interval '61 s', lease_expires_at = now()")
    [row] = await database.call("look_for_work", None, timedelta())
    assert (row["is_reap_turn"], row["has_expired"]) == (True, True)


async def test_who_has_nothing_to_claim_is_idle_although_its_last_claim_could_not_say_so(database: Database) -> None:
    worker = SqlWorker(database)
    await worker.register()
    idle = "select idle and idle_since is not null as idle from leasehold.workers"
    job = await enqueue(database)
    await database.call("look_for_work", None, EVERY, incarnation=worker.incarnation)
    assert [row["idle"] for row in await database.fetch(idle)] == [False]
    await database.call("cancel_job", job)
    await database.call("look_for_work", None, EVERY, incarnation=worker.incarnation)
    assert [row["idle"] for row in await database.fetch(idle)] == [True]


async def test_a_poll_waits_for_nobody_who_has_the_row_of_the_worker(database: Database) -> None:
    worker = SqlWorker(database)
    await worker.register()
    async with database.transaction() as holder:
        await holder.fetch("select from leasehold.workers for update")
        await database.call("look_for_work", None, EVERY, incarnation=worker.incarnation)
    assert await database.fetch("select from leasehold.workers where idle") == []


async def test_a_heartbeat_rides_along_and_learns_that_there_are_commands(database: Database) -> None:
    worker = SqlWorker(database)
    await worker.register()
    [row] = await database.call("look_for_work", None, EVERY, incarnation=worker.incarnation, vitals=VITALS)
    assert (row["is_known"], row["are_told"], row["is_reap_turn"]) == (True, False, True)
    [shown] = await database.fetch("select active_jobs, state, slots, memory, cpu, rss from leasehold.workers")
    assert tuple(shown) == (2, "paused", 4, 0.5, None, 77)
    await database.call("command_worker", "w1", "pause")
    [row] = await database.call("look_for_work", None, EVERY, incarnation=worker.incarnation, vitals=VITALS)
    assert (row["is_known"], row["are_told"]) == (True, True)


async def test_a_worker_without_a_row_is_told_so(database: Database) -> None:
    [row] = await database.call(
        "look_for_work", None, EVERY, incarnation=SqlWorker(database).incarnation, vitals=VITALS
    )
    assert (row["is_known"], row["are_told"]) == (False, False)


async def test_in_another_epoch_it_takes_no_turn_and_sends_no_heartbeat(database: Database) -> None:
    worker = SqlWorker(database)
    await worker.register()
    known = await begin_epoch(database)
    [row] = await database.call("look_for_work", None, EVERY, known, None)
    assert (row["epoch"], row["is_reap_turn"]) == (known, True)
    await fail_over(database)
    await database.execute("delete from leasehold.reap_turns")
    [row] = await database.call("look_for_work", None, EVERY, known, None, worker.incarnation, VITALS)
    assert row["epoch"] != known
    assert (row["is_reap_turn"], row["is_known"]) == (None, None)
    [shown] = await database.fetch("select state from leasehold.workers")
    assert shown["state"] == "ready"
    assert await database.call_value("take_reap_turn", EVERY) is True


async def test_its_transaction_does_not_wait_for_the_disk(database: Database) -> None:
    """So a fleet with nothing to do leaves the disk alone. The transaction after it waits as always."""
    asked = "select current_setting('synchronous_commit') as waits"
    async with database.transaction() as transaction:
        await transaction.call("look_for_work", None, EVERY)
        assert (await transaction.fetch(asked))[0]["waits"] == "off"
    async with database.reserve("looks") as connection:
        await connection.call("look_for_work", None, EVERY)
        assert (await connection.fetch(asked))[0]["waits"] == "on"
