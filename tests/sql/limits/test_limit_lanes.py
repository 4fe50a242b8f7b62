"""Limits as workers meet them: through claim_jobs, which asks limit_lanes, share_limit and list_open_groups."""

from __future__ import annotations

from datetime import timedelta

import pytest
import trio

from leasehold.database import Database
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue, enqueue_many, pile_up, states
from tests.support.sql_limits import enqueue_groups, limit, usage
from tests.support.sql_waits import be_patient, meet, open_transaction
from tests.support.sql_worker import SqlWorker, ids
from tests.support.waiting import PATIENCE


async def test_no_more_jobs_of_a_queue_are_held_than_its_limit_says(database: Database, worker: SqlWorker) -> None:
    await limit(database, 3)
    assert ids(await worker.given_all([{"kind": "a"}] * 10, 10)) == [1, 2, 3]
    assert await worker.claim(10) == []
    assert await SqlWorker(database, "w2").claim(10) == []


async def test_a_limit_of_none_lets_nothing_start(database: Database, worker: SqlWorker) -> None:
    await limit(database, 0)
    assert await worker.given() == []


async def test_other_queues_are_not_limited(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1)
    assert ids(await worker.given_all([{"kind": "a", "queue": q} for q in ("default", "free") * 3], 10)) == [1, 2, 4, 6]


async def test_the_best_jobs_of_all_kinds_and_queues_come_first_as_far_as_the_limit_goes(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 3)
    kinds = [("a", 1, "default"), ("b", 9, "default"), ("a", 5, "default"), ("c", 4, "default")]
    free = [("a", 3, "free"), ("b", 7, "free")]
    await enqueue_many(database, [{"kind": k, "priority": p, "queue": q} for k, p, q in kinds + free])
    assert ids(await worker.claim(3)) == [2, 6, 3]
    assert ids(await worker.claim(3)) == [4, 5]
    assert await worker.claim(3) == []


async def test_whatever_ends_a_job_makes_room_for_another(database: Database, worker: SqlWorker) -> None:
    for end in ["complete", "fail", "discard", "release", "reschedule", "cancel", "reap"]:
        await empty(database)
        await limit(database, 1)
        await enqueue(database)
        held = await worker.given(priority=-1)
        match end:
            case "complete":
                await worker.complete(held)
            case "fail":
                await worker.fail(held, retry_in=[60.0])
            case "discard":
                await worker.fail(held, discard=[True])
            case "release":
                await worker.release(held)
            case "reschedule":
                await worker.reschedule(held, [60.0])
            case "cancel":
                await database.call("cancel_job", 1)
            case _:
                await expire(database, 1)
                await database.call("reap_jobs")
        assert len(await worker.claim()) == 1
        assert await worker.claim() == []


async def test_of_due_and_retried_jobs_no_more_start_than_the_limit_says(database: Database, worker: SqlWorker) -> None:
    await limit(database, 2)
    await enqueue_many(database, [{"kind": "a", "delay": 0.001}] * 3 + [{"kind": "a"}] * 3)
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 s'")
    held = await worker.claim(10)
    assert len(held) == 2
    await worker.fail(held, retry_in=[0.0, 0.0])
    assert len(await worker.claim(10)) == 2


async def test_a_kind_that_nobody_serves_takes_no_part(database: Database, worker: SqlWorker) -> None:
    await limit(database, 2)
    await limit(database, 1, group="*")
    await enqueue_groups(database, "xyz", kind="other", priority=9)
    await enqueue_groups(database, "xyz")
    assert ids(await worker.claim(10, kinds=["a"])) == [4, 5]


# Groups.


async def test_no_more_jobs_of_each_group_are_held_than_the_limit_of_each_says(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 2, group="*")
    await enqueue_groups(database, "xxxxyyyz")
    assert ids(await worker.claim(10)) == [1, 2, 5, 6, 8]
    assert await worker.claim(10) == []


async def test_a_group_counts_over_all_kinds(database: Database, worker: SqlWorker) -> None:
    await limit(database, 2, group="*")
    assert ids(await worker.given_all([{"kind": kind, "key_group": "x"} for kind in "abcd"], 10)) == [1, 2]


async def test_a_limit_of_its_own_takes_the_place_of_that_of_each_group(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1, group="*")
    await limit(database, 3, group="big")
    await limit(database, 0, group="off")
    await enqueue_groups(database, ["big"] * 5 + ["off"] * 2 + ["x"] * 2)
    assert ids(await worker.claim(10)) == [1, 2, 3, 8]


async def test_where_only_one_group_is_limited_the_others_are_not(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1, group="x")
    await enqueue_groups(database, "xxyyy")
    assert ids(await worker.claim(10)) == [1, 3, 4, 5]


async def test_a_job_has_to_fit_the_limit_of_its_queue_and_that_of_its_group(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 3)
    await limit(database, 2, group="*")
    await enqueue_groups(database, "xxxyyy")
    first = await worker.claim(10)
    assert len(first) == 3
    await worker.complete(first[:1])
    assert len(await worker.claim(10)) == 1
    assert (await usage(database))[""]["running"] == 3
    assert (await usage(database))["*"]["running"] <= 2


async def test_jobs_without_a_group_count_for_the_queue_alone(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1, group="*")
    await enqueue_groups(database, [None, "x", None, "x", None])
    assert ids(await worker.claim(10)) == [1, 2, 3, 5]
    await limit(database, 5)
    await enqueue_groups(database, [None, None])
    assert len(await worker.claim(10)) == 1


# Keys.


async def test_of_a_key_one_job_is_held_in_a_limited_queue_too_and_the_limit_is_used_up(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 3)
    await enqueue_many(database, [{"kind": "a", "key": key} for key in "kkkkmn"])
    await database.execute("update leasehold.jobs set state = 'pending'")
    held = await worker.claim(10)
    assert ids(held) == [1, 5, 6]
    found = await states(database)
    assert {found[n] for n in (2, 3, 4)} <= {"waiting", "pending"}
    await worker.complete(held[:1])
    assert ids(await worker.claim(10)) == [2]


async def test_a_job_whose_key_is_being_settled_is_passed_over_in_a_limited_queue_too(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 2)
    await limit(database, 1, group="*")
    await enqueue(database, key="k", key_group="x", priority=9)
    await enqueue(database, key_group="x")
    await enqueue(database, key_group="y")
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        assert sorted(ids(await worker.claim(10))) == [2, 3]


async def test_jobs_of_a_limited_queue_that_others_have_locked_are_skipped(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 2)
    await enqueue_many(database, [{"kind": "a"}] * 4)
    async with open_transaction(database, "other") as other:
        await other.fetch("select from leasehold.jobs where id = 1 for update")
        assert ids(await worker.claim(10)) == [2, 3]


async def test_a_job_of_a_limited_queue_stranded_behind_nobody_is_found(database: Database, worker: SqlWorker) -> None:
    await limit(database, 2)
    await enqueue_many(database, [{"kind": "a", "key": key} for key in "xyz"])
    await database.execute("update leasehold.jobs set state = 'waiting'")
    assert ids(await worker.claim()) == [1, 2]


# Races.


async def test_two_claims_at_once_do_not_both_use_the_same_room(database: Database, subtests: pytest.Subtests) -> None:
    for group in ["", "*"]:
        await empty(database)
        with subtests.test(group=group):
            await limit(database, 3, group=group)
            await enqueue_groups(database, "x" * 10)
            async with open_transaction(database, "first") as first:
                assert len(await SqlWorker(first, "first").claim(2)) == 2
                second = SqlWorker(database, "second")
                with trio.fail_after(PATIENCE):
                    assert await second.claim(10) == []
                await first.execute("commit")
            assert len(await second.claim(10)) == 1
            assert await second.claim(10) == []


async def test_room_that_a_claim_took_and_gave_up_is_there_for_the_next(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1, rate=1.0, burst=1)
    await enqueue_many(database, [{"kind": "a"}] * 2)
    async with open_transaction(database, "first") as first:
        assert len(await SqlWorker(first, "first").claim(2)) == 1
    assert len(await worker.claim(2)) == 1


async def test_a_queue_that_somebody_else_claims_from_holds_up_no_other_queue(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, 5)
    await enqueue_many(database, [{"kind": "a", "queue": q} for q in ("default", "free") * 2])
    async with open_transaction(database, "first") as first:
        await SqlWorker(first, "first").claim(1, queues=["default"])
        assert ids(await worker.claim(10)) == [2, 4]


async def test_a_claim_that_would_come_back_with_nothing_waits_for_another_of_the_same_queue_to_end(
    fresh_database: Database,
) -> None:
    database = fresh_database
    await be_patient(database, "wait_for_queue")
    await limit(database, 2)
    await enqueue_many(database, [{"kind": "a"}] * 2)
    got = await meet(
        database,
        lambda first: SqlWorker(first, "first").claim(1),
        lambda second: SqlWorker(second, "second").claim(1),
    )
    assert ids(got) == [2]


async def test_a_limit_counts_what_was_claimed_before_it_was_set(database: Database, worker: SqlWorker) -> None:
    held = await worker.given_all([{"kind": "a", "key_group": "x"}] * 10, 4)
    await limit(database, 5)
    await limit(database, 4, group="*")
    assert await worker.claim(10) == []
    await worker.complete(held[:1])
    assert len(await worker.claim(10)) == 1


async def test_a_limit_below_what_is_held_takes_nothing_back(database: Database, worker: SqlWorker) -> None:
    held = await worker.given_all([{"kind": "a"}] * 5, 3)
    await limit(database, 1)
    assert await worker.claim() == []
    await worker.complete(held[:2])
    assert await worker.claim() == []
    await worker.complete(held[2:])
    assert len(await worker.claim()) == 1


async def test_claims_without_limits_do_not_hold_up_each_other(database: Database, worker: SqlWorker) -> None:
    await pile_up(database, 4)
    await enqueue(database, delay=timedelta(hours=1))
    async with open_transaction(database, "first") as first:
        assert ids(await SqlWorker(first, "first").claim(2)) == [1, 2]
        assert ids(await worker.claim(10)) == [3, 4]
