"""What a timeline says of a job that waits for its time or for its key: each way out of both leaves its event."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from leasehold.database import Database, ReservedConnection
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker

CREATED = ("created", 0)
End = Callable[[SqlWorker], Awaitable[object]]


async def told(database: Database, job_id: int) -> list[str]:
    return [event for event, _ in await events(database, job_id)]


async def complete(worker: SqlWorker) -> None:
    await worker.complete(await worker.claim(1))


async def fail_for_good(worker: SqlWorker) -> None:
    await worker.fail(await worker.claim(1), discard=[True])


async def cancel(worker: SqlWorker) -> None:
    await worker.claim(1)
    await worker.caller.call("cancel_job", 1)


async def cancel_unclaimed(worker: SqlWorker) -> None:
    await worker.caller.call("cancel_job", 1)


async def cancel_all_of_its_kind(worker: SqlWorker) -> None:
    await worker.caller.call("cancel_jobs", kind="first", dry_run=False)


async def reschedule(worker: SqlWorker) -> None:
    await worker.reschedule(await worker.claim(1), [3600.0])


async def reap(worker: SqlWorker) -> None:
    await worker.claim(1)
    await worker.caller.fetch(
        "update leasehold.jobs set max_attempts = 1, lease_expires_at = '2001-01-01Z' where incarnation is not null"
    )
    await worker.caller.call("reap_jobs")


async def continue_elsewhere(worker: SqlWorker) -> None:
    await worker.continue_with(await worker.claim(1), [{"next": {"kind": "next"}}])


ENDS: list[End] = [
    complete, fail_for_good, cancel, cancel_unclaimed, cancel_all_of_its_kind, reschedule, reap, continue_elsewhere,
]  # fmt: skip


async def test_whoever_gives_the_key_away_promotes_the_next_and_says_so(database: Database, worker: SqlWorker) -> None:
    for end in ENDS:
        await empty(database)
        await worker.register()
        await enqueue_many(database, [{"kind": "first", "key": "k"}])
        await enqueue_many(database, [{"kind": "first", "key": "k", "priority": -1}])
        await database.fetch("update leasehold.jobs set kind = 'second' where id = 2")
        assert await states(database) == {1: "pending", 2: "waiting"}
        await end(worker)
        assert (await states(database))[2] == "pending"
        assert await events(database, 2) == [CREATED, ("promoted", 0)]


async def test_a_sweep_that_finds_a_forgotten_job_says_so(database: Database) -> None:
    await enqueue(database, key="k")
    await database.fetch("update leasehold.jobs set state = 'waiting'")
    await database.call("promote_stranded_jobs")
    assert await events(database, 1) == [CREATED, ("promoted", 0)]


async def test_a_scheduled_job_whose_time_has_come_says_so_once(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await delayed(connection, {"kind": "a"}, {"kind": "b", "key": "free"})
        assert await events(connection, 1) == [CREATED, ("due", 0)]
        assert await events(connection, 2) == [CREATED, ("due", 0)]
        assert await states(connection) == {1: "pending", 2: "pending"}


async def test_one_that_is_due_behind_another_of_its_key_is_promoted_later(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 11:00Z") as (connection, worker):
        await enqueue(connection, "now", key="k")
        await worker.claim(1, lease=7200)
        await delayed(connection, {"kind": "later", "key": "k"})
        assert (await states(connection))[2] == "waiting"
        await freeze(connection, "2026-03-01 13:00Z")
        await connection.call("cancel_job", 1)
        assert await events(connection, 2) == [CREATED, ("due", 0), ("promoted", 0)]


async def delayed(connection: ReservedConnection, *jobs: dict[str, object]) -> None:
    """These jobs are enqueued at noon, a minute before they may run, and then that minute is over."""
    await freeze(connection, "2026-03-01 12:00Z")
    await enqueue_many(connection, [{**job, "delay": 60} for job in jobs])
    await freeze(connection, "2026-03-01 12:01Z")
    await connection.call("make_jobs_due")


async def test_a_retry_after_its_back_off_says_so_between_the_two_attempts(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.fail(await worker.given(), retry_in=[60.0])
        await freeze(connection, "2026-03-01 12:01Z")
        await worker.claim()
        assert await events(connection, 1) == [
            CREATED, ("claimed", 1), ("started", 1), ("attempt_failed", 1), ("due", 1), ("claimed", 2),
        ]  # fmt: skip


async def test_a_claim_that_finds_the_key_taken_says_so(database: Database, worker: SqlWorker) -> None:
    [first] = await worker.given_all([{"kind": "a", "key": "k"}, {"kind": "b", "key": "k"}], 2)
    assert await states(database) == {1: "claimed", 2: "waiting"}
    assert await told(database, 2) == ["created", "demoted"]
    await worker.complete([first])
    assert await told(database, 2) == ["created", "demoted", "promoted"]


async def test_a_job_that_comes_back_and_is_next_at_once_has_not_waited(database: Database, worker: SqlWorker) -> None:
    await worker.release(await worker.given(key="k"))
    assert await told(database, 1) == ["created", "claimed", "released"]


async def test_a_plain_job_leaves_no_event(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given_all([{"kind": "a"}] * 10, 10))
    assert await database.fetch("select * from leasehold.job_events") == []
