"""Which idle workers are woken, and how many."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from leasehold.database import Database
from tests.sql.workers.commands.test_wake_idle_workers import heard
from tests.support.sql_jobs import empty, enqueue, enqueue_many
from tests.support.sql_limits import limit
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def idle_workers(
    database: Database, count: int, *, queues: Sequence[str] = (), kinds: Sequence[str] = (), ago: str = "1 minute"
) -> list[str]:
    """So many idle workers, the one that went idle last first; returns the beginnings of their incarnations."""
    names: list[str] = []
    [[now]] = await database.fetch("select now()")
    for n in range(count):
        worker = SqlWorker(database, f"w{n}")
        await worker.register(queues=queues, kinds=kinds)
        await worker.claim(queues=queues, kinds=["none"])
        await database.fetch(
            "update leasehold.workers set idle_since = $2::timestamptz - $3::text::interval - $4::int * interval '1 second'"
            " where incarnation = $1",
            worker.incarnation,
            now,
            ago,
            n,
        )
        names.append(str(worker.incarnation)[:8])
    return names


async def test_of_many_idle_workers_one_job_wakes_the_one_that_went_idle_last_and_one_to_spare(
    database: Database,
) -> None:
    names = await idle_workers(database, 6)
    assert await heard(database, lambda: enqueue(database)) == [f"ring:{names[0]},{names[1]}:default"]


async def test_as_many_are_woken_as_there_are_jobs(database: Database) -> None:
    names = await idle_workers(database, 6)
    jobs = [{"kind": "a"}, {"kind": "b"}, {"kind": "a"}]
    assert await heard(database, lambda: enqueue_many(database, jobs)) == [f"ring:{','.join(names[:4])}:default"]


async def test_where_all_are_wanted_they_need_no_names(database: Database) -> None:
    await idle_workers(database, 6)
    assert await heard(database, lambda: enqueue_many(database, [{"kind": "a"}] * 5)) == ["wake:default"]


async def test_nobody_is_woken_for_a_kind_without_a_handler(database: Database, subtests: pytest.Subtests) -> None:
    for count in [1, 2, 5]:
        await empty(database)
        with subtests.test(count=count):
            await idle_workers(database, count, kinds=["a", "b"])
            assert await heard(database, lambda: enqueue(database, "other")) == []
            assert await heard(database, lambda: enqueue(database, "b")) != []


async def test_nobody_is_woken_for_a_paused_queue(database: Database, subtests: pytest.Subtests) -> None:
    for count in [1, 2, 5]:
        await empty(database)
        with subtests.test(count=count):
            await idle_workers(database, count)
            await database.call("pause_queue", "default")
            assert await heard(database, lambda: enqueue(database)) == []
            assert await heard(database, lambda: enqueue(database, queue="other")) != []


async def test_nobody_is_woken_where_the_queue_runs_as_much_as_it_may(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for count in [1, 2, 5]:
        await empty(database)
        with subtests.test(count=count):
            await limit(database, 2)
            await worker.given_all([{"kind": "a"}] * 2)
            await idle_workers(database, count)
            assert await heard(database, lambda: enqueue(database)) == []


async def test_a_limit_caps_how_many_are_woken(database: Database) -> None:
    names = await idle_workers(database, 6)
    await limit(database, 2)
    jobs = [{"kind": "a"}] * 5
    assert await heard(database, lambda: enqueue_many(database, jobs)) == [f"ring:{','.join(names[:3])}:default"]


async def test_workers_of_different_deployments_are_woken_for_what_they_can_do(database: Database) -> None:
    ours = await idle_workers(database, 4, kinds=["a"])
    await idle_workers(database, 4, kinds=["b", "c"])
    assert await heard(database, lambda: enqueue(database, "a")) == [f"ring:{ours[0]},{ours[1]}:default"]


async def test_a_worker_that_holds_back_is_passed_over(database: Database) -> None:
    names = await idle_workers(database, 4)
    await database.execute(
        "update leasehold.workers set backoff = 'memory', backoff_until = now() + interval '1 minute'"
        f" where incarnation::text like '{names[0]}%'"
    )
    assert await heard(database, lambda: enqueue(database)) == [f"ring:{names[1]},{names[2]}:default"]


async def test_a_worker_that_missed_its_heartbeats_is_passed_over(database: Database) -> None:
    names = await idle_workers(database, 4)
    await database.execute(
        "update leasehold.workers set heartbeat_seconds = 30;"
        "update leasehold.workers set heartbeat_at = now() - interval '80 seconds'"
        f" where incarnation::text like '{names[0]}%'"
    )
    assert await heard(database, lambda: enqueue(database)) == [f"ring:{names[1]},{names[2]}:default"]


async def test_a_job_due_before_long_is_told_to_one_and_one_to_spare(database: Database) -> None:
    names = await idle_workers(database, 6)
    jobs = [{"kind": "a", "delay": 30}]
    assert await heard(database, lambda: enqueue_many(database, jobs)) == [f"ring:{names[0]},{names[1]}:default"]


async def test_a_large_fleet_is_left_alone_while_somebody_looks_anyway(database: Database) -> None:
    await idle_workers(database, 40)
    assert len(await heard(database, lambda: enqueue(database))) == 1
    await database.execute("delete from leasehold.jobs")
    # As if it had come back empty-handed just now, by the clock of the enqueue.
    await database.execute(
        "update leasehold.workers set idle_since = now() + interval '1 minute'"
        " where incarnation = (select incarnation from leasehold.workers limit 1)"
    )
    await database.execute("select setval('leasehold.last_wake_up', 0)")
    assert await heard(database, lambda: enqueue(database)) == []
    assert len(await heard(database, lambda: enqueue_many(database, [{"kind": "a"}] * 3))) == 1


async def test_a_large_fleet_is_woken_once_in_a_while_and_not_for_each_commit(database: Database) -> None:
    await idle_workers(database, 40)
    async with database.reserve("clocked") as connection:
        told: list[int] = []
        for moment in ("12:00:00.000", "12:00:00.004", "12:00:00.019", "12:00:00.021"):
            await freeze(connection, f"2030-03-01 {moment}Z")
            await connection.execute("update leasehold.workers set heartbeat_at = leasehold.clock()")
            told.append(len(await heard(database, lambda: enqueue(connection))))
    assert told == [1, 0, 0, 1]


async def test_many_queues_at_once_are_one_wake_up_for_everybody(database: Database) -> None:
    await idle_workers(database, 3)
    jobs = [{"kind": "a", "queue": f"q{n}"} for n in range(21)]
    assert await heard(database, lambda: enqueue_many(database, jobs)) == ["wake"]
