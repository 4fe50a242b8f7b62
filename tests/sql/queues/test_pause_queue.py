from __future__ import annotations

import pytest
import trio

from leasehold.database import Database, Row
from tests.sql.limits.test_set_limit import GATED
from tests.sql.workers.commands.test_wake_idle_workers import heard
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_limits import limit
from tests.support.sql_waits import be_patient, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker


async def test_pausing_is_noted_with_its_reason_and_time(database: Database) -> None:
    assert await database.call_value("pause_queue", "q", "shop is down") is True
    (row,) = await database.fetch("select queue, reason, paused_at is not null from leasehold.queues")
    assert tuple(row) == ("q", "shop is down", True)


async def test_pausing_twice_changes_nothing(database: Database) -> None:
    await database.call("pause_queue", "q", "first")
    before = await database.fetch("select * from leasehold.queues")
    assert await database.call_value("pause_queue", "q", "second") is False
    assert await database.fetch("select * from leasehold.queues") == before


async def test_running_jobs_go_on_and_new_ones_may_be_enqueued(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await database.call("pause_queue", "default")
    await enqueue(database)
    assert await worker.renew(claimed) == {}
    assert await worker.complete(claimed) == {}
    assert await worker.claim() == []
    assert await states(database) == {1: "completed", 2: "pending"}


async def test_workers_are_told_once(database: Database) -> None:
    async def pause_twice() -> None:
        await database.call("pause_queue", "q: 1")
        await database.call("pause_queue", "q: 1")

    assert await heard(database, pause_twice) == ["pause:q: 1"]


async def test_it_waits_for_claims_under_way_so_that_none_commits_after_it(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database, "wait_for_queue")
    await enqueue(database)
    async with open_transaction(database, "claimer") as claimer, database.reserve("operator") as operator:
        assert len(await SqlWorker(claimer, "claimer").claim()) == 1
        async with trio.open_nursery() as nursery:
            nursery.start_soon(operator.call, "pause_queue", "default")
            await until_waiting(database, "operator")
            assert await database.fetch("select from leasehold.queues") == []
            await claimer.execute("commit")
    assert len(await database.fetch("select from leasehold.queues where paused_at is not null")) == 1


async def test_a_transaction_that_does_not_end_cannot_keep_a_queue_from_being_paused(database: Database) -> None:
    await enqueue(database)
    async with open_transaction(database, "claimer") as claimer:
        await SqlWorker(claimer, "claimer").claim()
        assert await database.call_value("pause_queue", "default") is True


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("crashes", [None, 1])
async def test_a_claim_that_looked_before_the_pause_and_locks_after_it_gets_nothing(
    fresh_database: Database, limited: bool, crashes: int | None
) -> None:
    database = fresh_database
    await database.execute(GATED)
    await enqueue(database)
    await database.fetch("update leasehold.jobs set crashes = $1", crashes)
    if limited:
        await limit(database, 5)
    async with database.reserve("claimer") as claimer, open_transaction(database, "gate") as gate:
        await gate.fetch("select pg_advisory_xact_lock(4711)")
        await claimer.execute("set test.gate = 'on'")
        claimed: list[Row] = []

        async def claim() -> None:
            claimed.extend(await SqlWorker(claimer).claim())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(claim)
            await until_waiting(database, "claimer")
            await database.call("pause_queue", "default")
            await gate.execute("commit")
        assert claimed == []
