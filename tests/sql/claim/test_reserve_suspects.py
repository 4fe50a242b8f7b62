from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue_many, pile_up, state
from tests.support.sql_limits import limit
from tests.support.sql_worker import SqlWorker, ids


async def make_suspects(database: Database, *job_ids: int) -> None:
    await database.fetch("update leasehold.jobs set crashes = 1 where id = any ($1)", list(job_ids))


async def test_a_claim_takes_one_suspect_the_best_and_all_the_others(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "priority": p} for p in (0, 0, 5, 0, 0)])
    await make_suspects(database, 1, 2, 3)
    assert ids(await worker.claim()) == [3, 4, 5]
    assert await worker.claim() == []
    assert ids(await SqlWorker(database, "w2").claim()) == [1]


async def test_the_batch_is_filled_up_with_others(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 30)
    await make_suspects(database, *range(1, 26))
    claimed = ids(await worker.claim(4))
    assert sorted(claimed) == [1, 26, 27, 28]


async def test_the_next_one_comes_when_the_first_has_ended(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await make_suspects(database, 1, 2)
    first = await worker.claim()
    assert (ids(first), await worker.claim()) == ([1], [])
    await worker.complete(first)
    assert ids(await worker.claim()) == [2]


async def test_suspects_with_keys_keep_their_place_in_the_line(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}, {"kind": "a"}, {"kind": "a", "key": "k"}])
    await make_suspects(database, 1, 2)
    assert ids(await worker.claim()) == [1]
    assert [await state(database, n) for n in (1, 2, 3)] == ["claimed", "pending", "waiting"]


async def test_a_job_of_its_key_in_another_lane_does_not_wait_for_one_that_is_left(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a", "priority": 9}, {"kind": "a", "key": "k"}, {"kind": "b", "key": "k"}])
    await make_suspects(database, 1, 2)
    assert ids(await worker.claim()) == [1, 3]
    assert await state(database, 2) == "pending"


async def test_nor_does_it_when_the_batch_is_full(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "priority": 9}, {"kind": "a", "key": "k"}, {"kind": "b", "key": "k"}])
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await make_suspects(database, 1, 2)
    assert len(await worker.claim(3)) == 3
    assert await state(database, 3) != "waiting"


async def test_keys_that_nobody_holds_are_found_though_only_suspects_are_left(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "a"}, {"kind": "b"}, {"kind": "c", "key": "k"}])
    await make_suspects(database, 1, 2, 3)
    await database.execute("update leasehold.jobs set state = 'waiting' where id = 4")
    assert ids(await worker.claim()) == [1, 4]


async def test_a_crash_counts_for_whoever_claims_next(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 3)
    await worker.claim()
    for job_id in (1, 2, 3):
        await expire(database, job_id)
    await database.call("reap_jobs")
    assert [ids(await SqlWorker(database, name).claim()) for name in "abcd"] == [[1], [2], [3], []]


async def test_however_many_there_are_they_hide_nothing(database: Database, worker: SqlWorker) -> None:
    await pile_up(database, 3000, "a", priority=1)
    await database.execute("update leasehold.jobs set crashes = 1")
    await pile_up(database, 20, "a")
    assert ids(await worker.claim(1)) == [1]
    for _ in range(3):
        claimed = await worker.claim(1)
        assert [job["priority"] for job in claimed] == [0]
    assert [job["priority"] for job in await worker.claim(5)] == [0] * 5


async def test_those_of_other_queues_are_taken_when_the_best_cannot_be(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "limited", "priority": 9}, {"kind": "a"}])
    await make_suspects(database, 1, 2)
    await database.call("set_limit", "limited", max_running=0)
    assert ids(await worker.claim()) == [2]


async def test_of_many_a_worker_holds_half_its_slots(database: Database, worker: SqlWorker) -> None:
    await worker.register(slots=6)
    await enqueue_many(database, [{"kind": "a"}] * 30)
    await make_suspects(database, *range(1, 14))
    assert ids(await worker.claim(5)) == [1, 2, 3, 14, 15]
    assert ids(await worker.claim(2)) == [16, 17]


async def test_of_no_more_than_twice_its_slots_it_holds_one(database: Database, worker: SqlWorker) -> None:
    await worker.register(slots=6)
    await enqueue_many(database, [{"kind": "a"}] * 30)
    await make_suspects(database, *range(1, 13))
    assert ids(await worker.claim(3)) == [1, 13, 14]


async def test_a_suspect_with_two_crashes_is_held_alone(database: Database, worker: SqlWorker) -> None:
    await worker.register(slots=6)
    await enqueue_many(database, [{"kind": "a"}] * 30)
    await make_suspects(database, *range(1, 30))
    await database.execute("update leasehold.jobs set crashes = 2 where id in (1, 3)")
    first = await worker.claim(5)
    assert ids(first) == [1, 30]
    await worker.complete(first)
    assert ids(await worker.claim(5)) == [2, 4, 5]


async def test_better_jobs_come_before_suspects(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "a", "priority": 1}, {"kind": "a", "priority": 1}])
    await make_suspects(database, 1)
    assert [ids(await worker.claim(1)) for _ in range(3)] == [[2], [3], [1]]


async def test_a_suspect_is_not_kept_back_by_better_jobs_that_cannot_be_had(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a"}, *[{"kind": "a", "queue": "limited", "priority": 9}] * 3])
    await make_suspects(database, 1)
    await database.call("set_limit", "limited", max_running=0)
    assert ids(await worker.claim(2)) == [1]


async def test_suspects_count_for_the_limits_of_their_queue_and_group(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key_group": "g"}] * 4)
    await make_suspects(database, 1, 2)
    await database.call("set_limit", "default", "*", 2)
    assert ids(await SqlWorker(database, "first").claim()) == [1, 3]
    assert await SqlWorker(database, "second").claim() == []


async def test_a_suspect_waits_for_its_limit(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    await make_suspects(database, 1)
    await database.call("set_limit", "default", max_running=0)
    assert await worker.claim() == []


async def test_suspects_and_others_that_start_together_are_one_burst(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    """The bucket fills up again within a microsecond, so that all that counts is the burst."""
    for suspects in [1, 4, 30]:
        await empty(database)
        with subtests.test(suspects=suspects):
            await worker.register(slots=20)
            await limit(database, rate=1_000_000.0, burst=3)
            await enqueue_many(database, [{"kind": "a"}] * 50)
            await make_suspects(database, *range(1, 1 + suspects))
            await worker.claim(20)
            starts = "select count(*) as jobs from leasehold.jobs where claimed_at is not null group by claimed_at"
            assert max([row["jobs"] for row in await database.fetch(starts)]) <= 3
