"""Blockers with "until": "ended": what waits for them goes on however their chain ends."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest

from leasehold.database import Database
from tests.support.sql_chains import broken_chains, complete_all, enqueue_blocked
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue, enqueue_many, state
from tests.support.sql_reasons import faults
from tests.support.sql_waits import meet, open_transaction
from tests.support.sql_worker import SqlWorker, insist

Edge = tuple[bool, object, str]
End = Callable[[Database, SqlWorker], Awaitable[object]]
ANY_END = {"chain": 1, "until": "ended"}


async def edges(database: Database, job_id: int) -> list[Edge]:
    """What the job waits for: whether it is closed, its output, and how the chain stands."""
    return [
        (row["closed_at"] is not None, None if row["output"] is None else json.loads(row["output"]), row["state"])
        for row in await database.call("get_job_blockers", job_id)
    ]


async def fail(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.claim(kinds=["part"]), discard=[True])


async def reap(database: Database, worker: SqlWorker) -> None:
    await worker.claim(kinds=["part"])
    await expire(database, 1)
    await database.call("reap_jobs")


async def miss_the_deadline(database: Database, worker: SqlWorker) -> None:
    await database.execute("update leasehold.jobs set deadline = leasehold.clock() where id = 1")
    await database.call("expire_jobs")


async def cancel(database: Database, worker: SqlWorker) -> None:
    await database.call("cancel_job", 1)


async def cancel_all(database: Database, worker: SqlWorker) -> None:
    await database.call("cancel_jobs", kind="part", dry_run=False)


async def cancel_the_chain(database: Database, worker: SqlWorker) -> None:
    await database.call("cancel_chain", 1)


ENDS: dict[str, tuple[End, str]] = {
    "fails": (fail, "failed"),
    "is reaped": (reap, "failed"),
    "misses its deadline": (miss_the_deadline, "failed"),
    "is cancelled": (cancel, "cancelled"),
    "is cancelled with others": (cancel_all, "cancelled"),
    "is cancelled as a chain": (cancel_the_chain, "cancelled"),
}


async def test_who_waits_for_any_end_goes_on_and_who_waits_for_completion_does_not(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for way, (end, end_state) in ENDS.items():
        await empty(database)
        with subtests.test(way=way):
            await enqueue(database, "part", max_attempts=1)
            goes_on, waits = await enqueue_blocked(database, [ANY_END]), await enqueue_blocked(database, [1])
            keyed = await enqueue_blocked(database, [ANY_END], key="k")
            await end(database, worker)
            assert await edges(database, goes_on) == [(True, None, end_state)]
            assert await edges(database, waits) == [(False, None, end_state)]
            assert [await state(database, each) for each in (goes_on, waits, keyed)] == [
                "pending",
                "blocked",
                "pending",
            ]
            assert await broken_chains(database, is_swept=True) == []
            assert await faults(database) == [("blocked_for_ever", f"job {waits}")]


async def test_an_attempt_that_will_be_tried_again_is_no_end(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "part", max_attempts=2)
    joined = await enqueue_blocked(database, [ANY_END])
    await worker.fail(await worker.claim(kinds=["part"]), retry_in=[0.0])
    assert await state(database, joined) == "blocked"
    await worker.fail(await worker.claim(kinds=["part"]))
    assert await state(database, joined) == "pending"


async def test_outputs_and_failures_stand_in_the_order_of_the_slots(database: Database, worker: SqlWorker) -> None:
    parts = [{"kind": "good"}, {"kind": "part"}, {"kind": "good"}]
    blockers = [{"position": n, "until": "ended"} for n in (1, 2, 3)]
    *_, joined = await enqueue_many(database, [*parts, {"kind": "joined", "blockers": blockers}])
    await complete_all(worker, "good", "done")
    assert await state(database, joined) == "blocked"
    await fail(database, worker)
    assert await edges(database, joined) == [
        (True, "done", "completed"),
        (True, None, "failed"),
        (True, "done", "completed"),
    ]
    assert await state(database, joined) == "pending"


async def test_both_kinds_of_waiting_go_together(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "part")
    needed = await enqueue(database, "needed")
    joined = await enqueue_blocked(database, [ANY_END, needed])
    await fail(database, worker)
    assert (await state(database, joined), await edges(database, joined)) == (
        "blocked",
        [(True, None, "failed"), (False, None, "open")],
    )
    await complete_all(worker, "needed")
    assert await state(database, joined) == "pending"


async def test_a_chain_that_failed_before_blocks_those_only_who_wait_for_its_completion(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for blocker in [1, {"chain": 1}, {"chain": 1, "until": "completed"}, ANY_END]:
        await empty(database)
        with subtests.test(blocker=blocker):
            await enqueue(database, "part")
            await fail(database, worker)
            joined = await enqueue_blocked(database, [blocker])
            assert await state(database, joined) == ("pending" if blocker is ANY_END else "blocked")


async def test_a_retry_later_on_does_not_block_again(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "part")
    joined = await enqueue_blocked(database, [ANY_END])
    await fail(database, worker)
    await database.call("retry_job", 1)
    await complete_all(worker, "part", "late")
    assert (await state(database, joined), await edges(database, joined)) == ("pending", [(True, None, "failed")])


async def test_a_handler_may_wait_so_as_well(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "part")
    await enqueue(database, "boss")
    held = await worker.claim(kinds=["boss"])
    assert (
        await worker.block(
            held, [{"jobs": [{"kind": "more"}], "blockers": [ANY_END, {"position": 1, "until": "ended"}]}]
        )
        == {}
    )
    await fail(database, worker)
    assert await state(database, 2) == "blocked"
    await database.call("cancel_job", 3)
    assert (await state(database, 2), [edge[2] for edge in await edges(database, 2)]) == (
        "pending",
        ["failed", "cancelled"],
    )


async def test_one_that_failed_while_its_dependent_was_being_enqueued_is_found_by_the_sweep(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database, "part")
    async with open_transaction(database, "producer") as producer:
        joined = await enqueue_blocked(producer, [ANY_END])
        await fail(database, worker)
        await producer.execute("commit")
    assert await state(database, joined) == "blocked"
    assert await faults(database) == [("blocked_by_nothing", f"job {joined}")]
    (row,) = await database.call("unblock_stranded_jobs")
    assert (row["found"], await state(database, joined)) == (1, "pending")
    assert await edges(database, joined) == [(True, None, "failed")]


async def test_of_one_that_completes_and_one_that_fails_at_the_same_moment_the_later_releases_the_job(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "good"}, {"kind": "part"}])
    joined = await enqueue_blocked(database, [{"chain": 1}, {"chain": 2, "until": "ended"}])
    good, bad = await worker.claim(kinds=["good"]), await worker.claim(kinds=["part"])
    await meet(
        database,
        lambda first: worker.over(first).complete(good),
        lambda second: insist(lambda: worker.over(second).fail(bad, discard=[True])),
    )
    assert await state(database, joined) == "pending"
