"""How blockers are given with new jobs; see test_block_jobs for those that a handler finds out about."""

from __future__ import annotations

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_chains import blocked_by, broken_chains, complete_all, edges, ended, enqueue_blocked
from tests.support.sql_jobs import empty, enqueue, enqueue_many, job, snapshot, state, states
from tests.support.sql_worker import SqlWorker, ids
from tests.support.waiting import PATIENCE

ITEM = 'a blocker must be the id of a job, {"position": n} of an earlier one, or {"chain": id}, not '

REFUSED: list[tuple[object, str]] = [
    (5, "job 2: blockers must be an array, not number"),
    ("1", "job 2: blockers must be an array, not string"),
    ({}, "job 2: blockers must be an array, not object"),
    (False, "job 2: blockers must be an array, not boolean"),
    ([None], f"job 2: {ITEM}null"),
    ([1, None], f"job 2: {ITEM}null"),
    (["1"], f'job 2: {ITEM}"1"'),
    ([1, [1]], f"job 2: {ITEM}[1]"),
    ([{}], f"job 2: {ITEM}{{}}"),
    ([1.5], f"job 2: {ITEM}1.5"),
    ([0], f"job 2: {ITEM}0"),
    ([2**63], f"job 2: {ITEM}9223372036854775808"),
    ([{"position": 2}], f'job 2: {ITEM}{{"position": 2}}'),
    ([{"position": 0}], f'job 2: {ITEM}{{"position": 0}}'),
    ([{"position": 1, "slot": 1}], f'job 2: {ITEM}{{"slot": 1, "position": 1}}'),
    (["x" * 200], f'job 2: {ITEM}"' + "x" * 99),
    ([404], "job 2: blocker 404 is no job"),
    ([1, 404, 405], "job 2: blocker 404 is no job"),
    ([3], "job 2: it would wait for its own chain"),
    ([1] * 100_001, "job 2: blockers are 100001; 100000 is the most"),
]


async def test_what_is_no_blocker_is_refused_with_its_place_and_nothing_is_written(database: Database) -> None:
    for blockers, complaint in REFUSED:
        await empty(database)
        await enqueue(database)
        before = await snapshot(database)
        with pytest.raises(BadInput) as refused:
            await enqueue_many(database, [{"kind": "a"}, {"kind": "b", "blockers": blockers}])
        assert str(refused.value).startswith(complaint)
        assert await snapshot(database) == before


async def test_a_later_job_of_a_chain_is_refused_with_the_id_to_give(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for is_finished in [False, True]:
        await empty(database)
        with subtests.test(is_finished=is_finished):
            await worker.continue_with(await worker.given(), [{"next": {"kind": "b"}}])
            if is_finished:
                await worker.complete(await worker.claim())
            with pytest.raises(BadInput, match=r"^blocker 2 is not the first job of its chain; give the chain, 1 \("):
                await enqueue_blocked(database, [1, 2, 2])


async def test_the_first_bad_job_of_many_is_the_one_that_is_named(database: Database) -> None:
    with pytest.raises(BadInput, match=r"^job 2: blocker 77 is no job"):
        await enqueue_many(database, [{"kind": "a"}, *[{"kind": "a", "blockers": [n]} for n in range(77, 90)]])


async def test_a_job_waits_for_chains_of_this_call_and_of_earlier_ones(database: Database, worker: SqlWorker) -> None:
    earlier = await enqueue(database)
    first, joined = await enqueue_many(
        database, [{"kind": "a"}, {"kind": "b", "blockers": [{"position": 1}, earlier, {"position": 1.0}]}]
    )
    assert await edges(database, joined) == [(first, False, None), (earlier, False, None), (first, False, None)]
    assert await states(database) == {earlier: "pending", first: "pending", joined: "blocked"}
    assert ids(await worker.claim()) == [earlier, first]


async def test_no_blockers_are_no_blockers(database: Database, subtests: pytest.Subtests) -> None:
    cases: list[list[int] | None] = [None, []]
    for blockers in cases:
        await empty(database)
        with subtests.test(blockers=blockers):
            assert (
                await state(database, *await enqueue_many(database, [{"kind": "a", "blockers": blockers}])) == "pending"
            )


async def test_a_chain_that_has_completed_gives_its_output_at_once(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given_all([{"kind": "a"}] * 2, 1), [{"answer": 42}])
    await worker.continue_with(await worker.claim(1), [{"next": {"kind": "b"}}])
    await complete_all(worker, "b", "second")
    joined = await enqueue_blocked(database, [2, 1])
    assert await edges(database, joined) == [(2, True, "second"), (1, True, {"answer": 42})]
    assert await state(database, joined) == "pending"


async def test_it_waits_for_a_chain_that_goes_on_after_its_first_job(database: Database, worker: SqlWorker) -> None:
    await worker.continue_with(await worker.given(), [{"next": {"kind": "b"}}])
    joined = await enqueue_blocked(database, [1])
    assert (await edges(database, joined), await state(database, joined)) == ([(1, False, None)], "blocked")
    await complete_all(worker, "b", "end")
    assert (await edges(database, joined), await state(database, joined)) == ([(1, True, "end")], "pending")


async def test_a_chain_that_failed_or_was_cancelled_blocks_until_it_is_retried(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for end in ["failed", "cancelled"]:
        await empty(database)
        with subtests.test(end=end):
            await ended(database, worker, end, "echo")
            joined = await enqueue_blocked(database, [1])
            assert await state(database, joined) == "blocked"
            await database.call("retry_job", 1)
            await complete_all(worker, "echo", "at last")
            assert (await edges(database, joined), await state(database, joined)) == ([(1, True, "at last")], "pending")


async def test_a_blocked_job_may_itself_block(database: Database, worker: SqlWorker) -> None:
    chain = [{"kind": f"k{n}", "blockers": [{"position": n}] if n else None} for n in range(20)]
    made = await enqueue_many(database, chain)
    order: list[int] = []
    while claimed := await worker.claim():
        order += ids(claimed)
        await worker.complete(claimed)
    assert order == made


async def test_a_job_that_was_there_already_is_left_as_it_is(database: Database, worker: SqlWorker) -> None:
    joined = {"kind": "b", "blockers": [{"position": 1}], "idempotency_key": "join"}
    first = await enqueue_many(database, [{"kind": "a", "idempotency_key": "part"}, joined])
    before = await snapshot(database)
    assert await enqueue_many(database, [{"kind": "a", "idempotency_key": "part"}, joined]) == first
    assert await snapshot(database) == before
    await complete_all(worker, "a", "done")
    assert await enqueue_many(database, [{"kind": "a", "idempotency_key": "part"}, joined]) == first
    again = {"kind": "c", "blockers": [{"position": 1}]}
    _, late = await enqueue_many(database, [{"kind": "a", "idempotency_key": "part"}, again])
    assert (await edges(database, late), await state(database, late)) == ([(first[0], True, "done")], "pending")


async def test_a_position_may_name_a_repeated_idempotency_key_of_the_same_call(database: Database) -> None:
    part = {"kind": "a", "idempotency_key": "part"}
    made = await enqueue_many(database, [part, part, {"kind": "b", "blockers": [{"position": 2}]}])
    assert made[0] == made[1]
    assert await edges(database, made[2]) == [(made[0], False, None)]


async def test_a_delayed_blocked_job_waits_for_both(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "b", "delay": 60, "blockers": [{"position": 1}]}])
    await complete_all(worker, "a")
    assert await state(database, 2) == "scheduled"
    await database.execute("update leasehold.jobs set run_at = now() where id = 2")
    assert ids(await worker.claim()) == [2]


async def test_blocked_jobs_hold_up_nobody_of_their_key(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    for n in range(3):
        await enqueue_many(database, [{"kind": "a", "key": "k", "blockers": [1], "priority": 9 - n}])
    free = await enqueue(database, kind="a", key="k")
    assert await states(database) == {1: "pending", 2: "blocked", 3: "blocked", 4: "blocked", free: "pending"}
    assert ids(await worker.claim()) == [1, free]


async def test_a_completion_never_waits_for_a_producer(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    async with database.reserve("producer") as connection:
        await connection.execute("begin")
        await enqueue_blocked(connection, [1])
        with trio.fail_after(PATIENCE):
            assert await worker.complete(claimed) == {}
        await connection.execute("commit")
    assert await broken_chains(database) == []


async def test_thousands_of_blockers_of_one_job(database: Database, worker: SqlWorker) -> None:
    parts, joined = await blocked_by(database, 3000)
    assert await edges(database, joined) == [(part, False, None) for part in parts]
    assert await state(database, joined) == "blocked"
    await complete_all(worker, "part", 1)
    with trio.fail_after(PATIENCE):
        late = await enqueue_blocked(database, parts)
    assert await edges(database, joined) == await edges(database, late) == [(part, True, 1) for part in parts]
    assert (await state(database, joined), await state(database, late)) == ("pending", "pending")


async def test_thousands_of_jobs_that_one_job_blocks(database: Database, worker: SqlWorker) -> None:
    made = await enqueue_many(database, [{"kind": "a"}, *[{"kind": "b", "blockers": [{"position": 1}]}] * 3000])
    assert (await job(database, made[-1]))["state"] == "blocked"
    with trio.fail_after(PATIENCE):
        await complete_all(worker, "a")
    assert set((await states(database)).values()) == {"completed", "pending"}
    assert await broken_chains(database, is_swept=True) == []
