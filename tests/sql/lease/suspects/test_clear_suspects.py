"""A worker that could not reach the database hands back what was taken from it meanwhile."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.sql.lease.suspects.test_blame_jobs import die, record
from tests.sql.lease.suspects.test_excuse_jobs import crashes
from tests.support.sql_jobs import empty, enqueue_many
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker


async def test_its_jobs_are_suspects_no_more_and_the_attempt_that_was_charged_is_spared(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    claimed = await worker.given_all([{"kind": "a"}])
    await die(database, 1)
    assert await record(database, 1) == ("pending", 1, 1)
    assert await worker.release(claimed) == {1: "taken_by_another_worker"}
    assert (await record(database, 1), await crashes(database)) == (("pending", 0, 0), [None])


async def test_so_they_are_when_a_heartbeat_came_first(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    claimed = await worker.given_all([{"kind": "a"}] * 3)
    await die(database, 1, 2, 3)
    await worker.beat()
    await worker.release(claimed[:2])
    assert await crashes(database) == [None, None, 0]
    await worker.release(claimed)
    assert await crashes(database) == [None, None, None]


async def test_what_another_death_has_left_stays(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}])
    await SqlWorker(database, "dead").claim()
    await die(database, 1)
    await worker.register()
    claimed = await worker.claim()
    await die(database, 1)
    await worker.release(claimed)
    assert await crashes(database) == [1]
    await worker.release(claimed)
    assert await crashes(database) == [1]


async def test_what_another_session_holds_is_cleared_when_it_is_sent_again(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for table in ["jobs", "workers"]:
        await empty(database)
        with subtests.test(table=table):
            await worker.register()
            claimed = await worker.given_all([{"kind": "a"}])
            await die(database, 1)
            async with open_transaction(database, "claim") as claim:
                await claim.execute(f"select from leasehold.{table} for update")
                assert await worker.release(claimed) == {1: "busy"}
                await claim.execute("commit")
            assert await crashes(database) == [1]
            assert await worker.release(claimed) == {1: "taken_by_another_worker"}
            assert (await record(database, 1), await crashes(database)) == (("pending", 0, 0), [None])


async def test_nobody_can_hand_back_the_losses_of_another(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    claimed = await worker.given_all([{"kind": "a"}])
    await die(database, 1)
    another = SqlWorker(database, "another")
    await another.register()
    await another.release(claimed)
    assert await crashes(database) == [1]


async def test_without_losses_nothing_is_changed(database: Database, worker: SqlWorker) -> None:
    assert await database.call_value("clear_suspects", worker.incarnation, [1], [1]) == 0
