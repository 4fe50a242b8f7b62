"""Who gets the room under a limit, when several key groups want it."""

from __future__ import annotations

from random import Random

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_limits import enqueue_groups, groups_of, limit, shares
from tests.support.sql_worker import SqlWorker, ids


async def test_groups_share_a_batch_evenly_however_long_the_line_of_one_is(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 100, group="*")
    await enqueue_groups(database, ["big"] * 200)
    await enqueue_groups(database, ["b"] * 50 + ["c"] * 3)
    assert await shares(database, await worker.claim(33)) == {"big": 15, "b": 15, "c": 3}


async def test_groups_take_turns_from_claim_to_claim(database: Database, worker: SqlWorker) -> None:
    await limit(database, 100, group="*")
    await enqueue_groups(database, "aaaaaabbbbccc")
    order: list[str | None] = []
    for _ in range(13):
        claimed = await worker.claim(1)
        order += await groups_of(database, claimed)
        await worker.complete(claimed)
    assert order == list("abcabcabcabaa")


async def test_jobs_without_a_group_take_turns_as_one_more_group(database: Database, worker: SqlWorker) -> None:
    await limit(database, 100, group="*")
    await enqueue_groups(database, [*"aaaabbbb", None, None, None])
    order: list[str | None] = []
    for _ in range(7):
        claimed = await worker.claim(1)
        order += await groups_of(database, claimed)
        await worker.complete(claimed)
    assert order == ["a", "b", None, "a", "b", None, "a"]


async def test_the_group_that_holds_least_comes_first(database: Database, worker: SqlWorker) -> None:
    await limit(database, 100, group="*")
    await enqueue_groups(database, "a" * 10)
    await worker.claim(5)
    await enqueue_groups(database, "b" * 10)
    assert await shares(database, await worker.claim(7)) == {"a": 1, "b": 6}


async def test_the_room_of_the_queue_is_shared_between_its_groups(database: Database, worker: SqlWorker) -> None:
    await limit(database, 6)
    await limit(database, 100, group="*")
    await enqueue_groups(database, "a" * 20 + "b" * 20 + "c" * 20)
    assert await shares(database, await worker.claim(60)) == {"a": 2, "b": 2, "c": 2}


async def test_priority_comes_before_turns(database: Database, worker: SqlWorker) -> None:
    await limit(database, 8, group="*")
    await enqueue_groups(database, "aabbcc")
    await enqueue_groups(database, "c" * 10, priority=5)
    claimed = await worker.claim(10)
    assert await shares(database, claimed) == {"a": 1, "b": 1, "c": 8}
    assert await shares(database, await worker.claim(10)) == {"a": 1, "b": 1}


async def test_the_best_jobs_are_found_however_they_are_spread(database: Database, worker: SqlWorker) -> None:
    """With one job of a group at the most in each priority, turns decide nothing: the order is that of an unlimited queue."""
    random = Random(1)
    await limit(database, 1000, group="*")
    jobs = [{"kind": random.choice("ab"), "key_group": g, "priority": n} for n, g in enumerate("abcdefgh" * 30)]
    random.shuffle(jobs)
    made = await enqueue_many(database, jobs)
    best = sorted(range(240), key=lambda n: -int(jobs[n]["priority"]))
    found: list[int] = []
    while claimed := await worker.claim(random.choice([1, 7, 40])):
        found += ids(claimed)
    assert found == [made[n] for n in best]


async def test_a_group_with_all_the_best_jobs_fills_a_large_batch_alone(database: Database, worker: SqlWorker) -> None:
    """What is looked at of each group at first is far too little here."""
    await limit(database, 1000, group="*")
    for group in "abcdefghij":
        await enqueue_groups(database, group * 30)
    await enqueue_groups(database, "z" * 300, priority=1)
    assert await shares(database, await worker.claim(300)) == {"z": 300}


async def test_without_limits_for_groups_the_oldest_come_first(database: Database, worker: SqlWorker) -> None:
    await limit(database, 4)
    await enqueue_groups(database, [*"aaa", None, *"bb"])
    assert await shares(database, await worker.claim(10)) == {"a": 3, None: 1}


async def many_groups(database: Database) -> None:
    """450 with two pending jobs each."""
    await database.execute(
        "insert into leasehold.jobs (created_at, run_at, state, kind, queue, args, key_group)"
        " select clock_timestamp(), clock_timestamp(), 'pending', 'a', 'default', '{}', 'g' || g"
        " from generate_series(100, 549) g, generate_series(1, 2)"
    )


async def test_more_groups_than_a_claim_looks_at_all_get_their_turn(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1, group="*")
    await many_groups(database)
    seen: set[str | None] = set()
    for _ in range(60):
        claimed = await worker.claim(10)
        seen |= set(await groups_of(database, claimed))
        await worker.complete(claimed)
        if len(seen) == 450:
            break
    assert len(seen) == 450


async def test_behind_more_full_groups_than_a_claim_looks_at_the_free_one_is_found_by_a_later_claim(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 1, group="*")
    await many_groups(database)
    while await worker.claim(100):
        pass
    await enqueue(database, "a", key_group="h")
    found = [ids(await worker.claim(1)) for _ in range(6)]
    assert [901] in found
