from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput, WrongState
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, pile_up, states
from tests.support.sql_waits import freeze, frozen, open_transaction
from tests.support.sql_worker import SqlWorker, frozen_worker, ids
from tests.support.waiting import PATIENCE


async def test_a_claimed_job_is_held_under_a_lease_by_this_worker(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        worker = SqlWorker(connection, "ada")
        await enqueue(connection, "resize", args='{"w": 1}', metadata='{"m": 2}', key="k", priority=4, queue="images")
        (claimed,) = await worker.claim(lease=30)
        row = await job(connection, 1)
    assert (claimed["job_id"], claimed["attempt"], claimed["max_attempts"], claimed["kind"]) == (1, 1, 20, "resize")
    assert (claimed["queue"], claimed["key"], claimed["priority"]) == ("images", "k", 4)
    assert (claimed["args"], claimed["metadata"], claimed["lease_seconds"]) == ('{"w": 1}', '{"m": 2}', 30.0)
    assert (row["state"], row["worker_id"], row["incarnation"], row["attempt"]) == (
        "claimed",
        "ada",
        worker.incarnation,
        1,
    )
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert (row["claimed_at"], row["lease_expires_at"]) == (noon, noon + timedelta(seconds=30))
    assert (row["started_at"], row["heartbeat_at"]) == (None, None)


async def test_nothing_to_do_is_nothing(worker: SqlWorker) -> None:
    assert await worker.claim() == []


async def test_a_job_is_claimed_once(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    assert ids(await worker.claim()) == [1]
    assert await worker.claim() == []
    assert await SqlWorker(database, "w2").claim() == []


async def test_the_attempt_goes_up_with_each_claim_and_never_resets(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    for attempt in (1, 2, 3):
        (claimed,) = await worker.claim()
        assert claimed["attempt"] == attempt
        await worker.fail([claimed], retry_in=[0.0])


async def test_a_kind_with_a_lease_of_its_own_gets_that(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "short"}, {"kind": "long"}])
    claimed = await worker.claim(kind_leases={"long": 900.5, "other": 1})
    assert {row["kind"]: row["lease_seconds"] for row in claimed} == {"short": 60.0, "long": 900.5}


# What is claimed.


async def test_the_best_come_first_by_priority_then_due_time_then_id(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "priority": p} for p in (0, 5, -5, 5)])
    await database.execute(
        "update leasehold.jobs set run_at = run_at - interval '1 minute' where id = 4;"
        "update leasehold.jobs set run_at = run_at - interval '1 minute', priority = -5 where id = 1"
    )
    assert ids(await worker.claim()) == [4, 2, 1, 3]


async def test_the_order_holds_across_queues_and_kinds(database: Database, worker: SqlWorker) -> None:
    jobs = [{"kind": f"kind{n % 7}", "queue": f"queue{n % 5}", "priority": (n * 37) % 11} for n in range(300)]
    made = await enqueue_many(database, jobs)
    expected = sorted(range(300), key=lambda n: (-int(jobs[n]["priority"]), made[n]))
    claimed: list[int] = []
    while batch := await worker.claim(23):
        claimed += ids(batch)
    assert claimed == [made[n] for n in expected]


async def test_a_batch_is_exactly_as_large_as_asked_for(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": f"k{n % 3}", "queue": f"q{n % 2}", "key": f"{n}"} for n in range(120)])
    assert [len(await worker.claim(batch)) for batch in (1, 7, 100)] == [1, 7, 100]


async def test_with_less_than_a_batch_all_are_claimed(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": f"k{n}", "queue": f"q{n % 3}"} for n in range(9)])
    assert len(await worker.claim(10_000)) == 9


async def test_only_served_queues_are_claimed_from(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": q, "priority": p} for p, q in enumerate("xyz")])
    assert ids(await worker.claim(queues=["z", "x", "nobody"])) == [3, 1]
    assert await worker.claim(queues=["nobody"]) == []
    assert ids(await worker.claim(queues=[])) == [2]


async def test_a_kind_without_a_handler_is_never_claimed(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(
        database, [{"kind": k, "priority": p} for p, k in enumerate(("mine", "echo", "Echo", "echo2", "ech"))]
    )
    assert ids(await worker.claim(kinds=["echo", "mine"])) == [2, 1]
    assert await worker.claim(kinds=["echo", "mine"]) == []
    assert ids(await worker.claim(kinds=[])) == [5, 4, 3]


async def test_queue_and_kind_both_have_to_fit(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": k, "queue": q} for q in "xy" for k in "ab"])
    assert ids(await worker.claim(queues=["x"], kinds=["b"])) == [2]


async def test_a_future_job_is_left_until_its_time(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await enqueue(connection, delay=timedelta(minutes=1))
        assert await worker.claim() == []
        await freeze(connection, "2026-03-01 12:01Z")
        assert ids(await worker.claim()) == [1]


async def test_due_jobs_are_claimed_without_any_scheduler(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await enqueue_many(
            connection, [{"kind": "a", "delay": 60}, {"kind": "a", "delay": 30, "key": "k"}, {"kind": "a"}]
        )
        await freeze(connection, "2026-03-01 12:05Z")
        assert ids(await worker.claim()) == [3, 2, 1]


async def test_a_paused_queue_gives_nothing_and_the_others_do(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "slow", "priority": 9}, {"kind": "a", "queue": "fast"}])
    await database.call("pause_queue", "slow")
    assert ids(await worker.claim()) == [2]
    await database.call("resume_queue", "slow")
    assert ids(await worker.claim()) == [1]


# Keys.


async def test_of_one_key_one_job_is_claimed_at_a_time_in_order(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k", "priority": p} for p in (1, 3, 2)])
    for expected in (2, 3, 1):
        claimed = await worker.claim()
        assert ids(claimed) == [expected]
        assert await worker.claim() == []
        await worker.complete(claimed)


async def test_pending_jobs_of_a_held_key_are_demoted_and_other_jobs_fill_the_batch(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k", "priority": 9}] * 30 + [{"kind": "a"}] * 10)
    await database.execute("update leasehold.jobs set state = 'pending'")
    assert ids(await worker.claim(10)) == [1, *range(31, 40)]
    found = await states(database)
    assert [found[n] for n in range(2, 31)] == ["waiting"] * 29
    assert ids(await worker.claim(10)) == [40]


async def test_a_batch_of_one_finds_the_free_job_behind_pending_ones_of_a_held_key(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database, key="k")
    await worker.claim()
    await enqueue_many(database, [{"kind": "a", "key": "k", "priority": 9}] * 20 + [{"kind": "a"}])
    await database.execute("update leasehold.jobs set state = 'pending' where state = 'waiting'")
    assert ids(await worker.claim(1)) == [22]


async def test_a_job_stranded_behind_nobody_is_found_by_a_claim_that_finds_too_little(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a", "key": key} for key in "xyz"])
    await database.execute("update leasehold.jobs set state = 'waiting'")
    assert ids(await worker.claim()) == [1, 2, 3]


# Locks that others hold.


async def test_locked_jobs_are_skipped(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 5)
    async with open_transaction(database, "other") as other:
        await other.fetch("select from leasehold.jobs where id in (1, 3) for update")
        assert ids(await worker.claim(2)) == [2, 4]
        assert ids(await worker.claim(2)) == [5]
    assert ids(await worker.claim(2)) == [1, 3]


async def test_when_the_best_jobs_of_all_are_locked_those_of_another_kind_are_claimed(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a", "priority": 9}] * 3 + [{"kind": "b"}] * 3)
    async with open_transaction(database, "other") as other:
        await other.fetch("select from leasehold.jobs where id in (1, 2, 3) for update")
        assert ids(await worker.claim(1)) == [4]
        assert ids(await worker.claim(5)) == [5, 6]


async def test_when_some_of_the_best_are_locked_the_batch_is_filled_from_what_is_left(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": k, "priority": p} for p, k in ((9, "a"), (8, "a"), (7, "b"), (6, "c"))] * 3)
    async with open_transaction(database, "other") as other:
        await other.fetch("select from leasehold.jobs where kind = 'a' and id > 1 for update")
        claimed = await worker.claim(6)
        assert sorted(row["kind"] for row in claimed) == ["a", "b", "b", "b", "c", "c"]


async def test_a_job_whose_key_is_being_settled_is_passed_over(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, key="k", priority=9)
    await enqueue_many(database, [{"kind": "echo"}] * 2)
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        assert ids(await worker.claim(1)) == [2]
        assert ids(await worker.claim(5)) == [3]
        assert await worker.claim(1) == []
    assert ids(await worker.claim(1)) == [1]


async def test_an_open_transaction_that_settles_a_key_does_not_hold_up_claims_with_due_jobs_of_that_key(
    database: Database, worker: SqlWorker
) -> None:
    holder = await enqueue(database, key="k")
    await enqueue(database, key="k", delay=timedelta(milliseconds=1))
    free = await enqueue(database, delay=timedelta(milliseconds=1))
    await worker.claim(1)
    async with database.reserve("later") as later, open_transaction(database, "other") as other:
        await other.call("cancel_job", holder)
        await freeze(later, "2999-01-01")
        with trio.fail_after(PATIENCE):
            assert ids(await worker.over(later).claim()) == [free]


async def test_claimers_never_share_a_job_and_none_is_forgotten(database: Database) -> None:
    for batch in (1, 10, 60):
        await empty(database)
        await pile_up(database, 150)
        await pile_up(database, 50, "other", key="key %s")
        claimed: list[int] = []

        async def claim_all(batch: int, claimed: list[int], name: str) -> None:
            async with database.reserve(name) as connection:
                worker = SqlWorker(connection, name)
                while got := await worker.claim(batch):
                    claimed += ids(got)

        async with trio.open_nursery() as nursery:
            for n in range(4):
                nursery.start_soon(claim_all, batch, claimed, f"w{n}")
        # A claimer may stop while others still hold locks; what is left belongs to the next poll.
        while got := await SqlWorker(database).claim(50):
            claimed += ids(got)
        assert sorted(claimed) == list(range(1, 201))


# The claimer's own row, and input.


async def test_a_worker_is_idle_after_an_empty_claim_and_busy_after_another(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()

    async def is_idle() -> bool:
        return (await database.fetch("select idle from leasehold.workers"))[0][0]

    assert not await is_idle()
    await worker.claim()
    assert await is_idle()
    for batch, stays_idle, expected in ((2, True, True), (1, True, False), (2, False, False)):
        await worker.claim()
        await enqueue(database)
        await database.call("claim_jobs", worker.incarnation, "w1", batch=batch, stays_idle=stays_idle)
        assert await is_idle() is expected, (batch, stays_idle)


async def test_no_incarnation_a_batch_out_of_range_and_a_lease_that_does_not_last_are_refused(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database)
    with pytest.raises(BadInput, match="incarnation is missing"):
        await database.call("claim_jobs", None, "w")
    for batch in (0, -1, 10_001, None):
        with pytest.raises(BadInput, match="batch must be from 1 to 10000, not"):
            await database.call("claim_jobs", worker.incarnation, "w", batch=batch)
    for seconds in (0.0, -1.0):
        with pytest.raises(BadInput, match="lease must be more than 0 seconds and at most 100 years, not"):
            await worker.claim(lease=seconds)
    for kind_leases in ('{"echo": 0}', '{"echo": -5}', '{"echo": "x"}', '{"echo": 1e300}', '{"echo": [5]}', "[]", "7"):
        with pytest.raises(BadInput, match="kind_leases must be a JSON object from kind to seconds, more than 0"):
            await database.call("claim_jobs", worker.incarnation, "w", kind_leases=kind_leases)
    assert await states(database) == {1: "pending"}


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_a_transaction_that_cannot_see_a_pause_claims_nothing(
    isolation: str, database: Database, worker: SqlWorker
) -> None:
    await enqueue(database)
    async with database.reserve("strict") as reserved:
        await reserved.execute(f"begin isolation level {isolation}")
        await reserved.fetch("select from leasehold.queues")
        await database.call("pause_queue", "default")
        with pytest.raises(WrongState, match="jobs can be claimed in read committed transactions only"):
            await worker.over(reserved).claim()
        await reserved.execute("rollback")
    assert await states(database) == {1: "pending"}


async def test_jobs_with_large_ids_live_as_others_do(database: Database, worker: SqlWorker) -> None:
    first_id = 2**53 - 2
    await database.fetch("select setval('leasehold.jobs_id_seq', $1)", first_id)
    await enqueue_many(database, [{"kind": "a"}] * 6)
    jobs = await worker.claim()
    assert ids(jobs) == list(range(first_id + 1, first_id + 7))
    assert await worker.renew(jobs) == {}
    assert await worker.complete(jobs[:1]) == {}
    assert [row["outcome"] for row in (await worker.fail(jobs[1:2])).values()] == ["scheduled"]
    assert await worker.release(jobs[2:3]) == {}
    assert await worker.reschedule(jobs[3:4], [5.0]) == {}
    assert await worker.held() == {(first_id + 5, 1), (first_id + 6, 1)}
    await database.call("cancel_job", first_id + 5)
    assert (await job(database, first_id + 5))["state"] == "cancelled"
    assert (await events(database, first_id + 2))[-1] == ("attempt_failed", 1)
