from __future__ import annotations

import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_jobs import enqueue_many, states
from tests.support.sql_waits import meet, open_transaction
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE


async def waiting_jobs(database: Database, *keys: str) -> None:
    """One waiting job for each, behind nobody."""
    await enqueue_many(database, [{"kind": "a", "key": key, "queue": f"of {key}"} for key in keys])
    await database.execute("update leasehold.jobs set state = 'waiting'")


async def test_the_best_waiting_job_of_each_key_becomes_pending(database: Database) -> None:
    await waiting_jobs(database, "k", "k", "l", "m")
    await database.execute("update leasehold.jobs set priority = 1 where id = 2")
    assert await database.call_value("promote_waiting_jobs", ["k", "l", "l", "nobody"]) == 2
    assert await states(database) == {1: "waiting", 2: "pending", 3: "pending", 4: "waiting"}


async def test_a_key_with_a_pending_job_is_left_alone(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}] * 2)
    assert await database.call_value("promote_waiting_jobs", ["k"]) == 0
    assert await states(database) == {1: "pending", 2: "waiting"}


async def test_a_held_key_is_left_alone(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a", "key": "k"}] * 2)
    assert await database.call_value("promote_waiting_jobs", ["k"]) == 0
    assert await states(database) == {1: "claimed", 2: "waiting"}


async def test_no_keys_are_no_jobs(database: Database) -> None:
    assert await database.call_value("promote_waiting_jobs", []) == 0


async def test_idle_workers_are_woken_for_the_queues_of_what_was_promoted(
    database: Database, worker: SqlWorker
) -> None:
    await waiting_jobs(database, "k", "l")
    await worker.register()
    await database.execute("update leasehold.workers set idle = true")
    async with listen(database, "leasehold") as listening:
        await database.call("promote_waiting_jobs", ["k", "nobody"])
        await database.call("promote_waiting_jobs", ["l"], False)
        await listening.notify("leasehold", "end", PATIENCE)
        with trio.fail_after(PATIENCE):
            assert [await listening.payloads.receive() for _ in range(2)] == ["wake:of k", "end"]


async def test_the_next_in_line_is_taken_when_the_best_is_locked(database: Database) -> None:
    await waiting_jobs(database, "k", "k")
    async with open_transaction(database, "other") as other:
        await other.fetch("select from leasehold.jobs where id = 1 for update")
        with trio.fail_after(PATIENCE):
            assert await database.call_value("promote_waiting_jobs", ["k"]) == 1
    assert await states(database) == {1: "waiting", 2: "pending"}


async def test_it_waits_for_whoever_is_at_the_key_and_then_sees_what_that_one_did(
    database: Database, worker: SqlWorker
) -> None:
    """The race that would leave a job waiting behind nobody: a claim demotes it while the holder completes."""
    claimed = await worker.given_all([{"kind": "a", "key": "k"}] * 2, 1)
    await database.execute("update leasehold.jobs set state = 'pending' where id = 2")
    answer = await meet(
        database,
        lambda claimer: SqlWorker(claimer).claim(1),
        lambda settler: insist(lambda: worker.over(settler).complete(claimed)),
    )
    assert answer == {}
    assert await states(database) == {1: "completed", 2: "pending"}


async def test_keys_given_in_any_order_are_locked_in_one_order(database: Database) -> None:
    keys = [f"k{n}" for n in range(60)]
    await waiting_jobs(database, *keys)

    async def promote(order: list[str]) -> None:
        for _ in range(10):
            async with database.transaction() as transaction:
                await transaction.call("promote_waiting_jobs", order)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(promote, keys)
        nursery.start_soon(promote, keys[::-1])
    assert set((await states(database)).values()) == {"pending"}
