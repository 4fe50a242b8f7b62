from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, NotFound
from tests.support.sql_jobs import empty
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def test_by_its_id_its_name_its_incarnation_or_the_beginning_of_one(database: Database) -> None:
    worker = SqlWorker(database, "pod-17")
    await worker.register()
    await SqlWorker(database, "node").register()
    (row,) = await database.fetch("select name from leasehold.workers where worker_id = 'pod-17'")
    for called in (
        "pod-17",
        "pod",
        row["name"],
        row["name"][:-1],
        str(worker.incarnation),
        str(worker.incarnation)[:8],
    ):
        assert await database.call_value("find_worker", called) == worker.incarnation, called


async def test_a_whole_name_goes_before_a_beginning_even_of_one_that_is_alive(database: Database) -> None:
    stopped, other = SqlWorker(database, "w1"), SqlWorker(database, "w10")
    await stopped.register()
    await other.register()
    await database.call("stop_worker", stopped.incarnation)
    assert await database.call_value("find_worker", "w1") == stopped.incarnation
    assert await database.call_value("find_worker", "w10") == other.incarnation


async def test_the_living_go_before_the_dead_and_the_last_of_the_dead_before_the_others(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        runs: list[SqlWorker] = []
        for hour in (9, 10, 11):
            await freeze(connection, f"2026-03-01 {hour}:00Z")
            runs.append(SqlWorker(connection, "w1"))
            await runs[-1].register()
        assert await connection.call_value("find_worker", "w1") == runs[2].incarnation
        await freeze(connection, "2026-03-01 12:00Z")
        assert await connection.call_value("find_worker", "w1") == runs[2].incarnation
        await connection.call("heartbeat_worker", runs[0].incarnation, 0, "ready", True)
        assert await connection.call_value("find_worker", "w1") == runs[0].incarnation


async def test_one_of_several_living_ones_is_not_picked(database: Database) -> None:
    for name in ("pod-1", "pod-2"):
        await SqlWorker(database, name).register()
    with pytest.raises(BadInput, match=r"pod may be any of 2 workers: pod-1 [a-z]+-[a-z]+ \("):
        await database.call("find_worker", "pod")
    twin = SqlWorker(database, "pod-1")
    await twin.register()
    with pytest.raises(BadInput, match="may be any of 2 workers"):
        await database.call("find_worker", "pod-1")
    assert await database.call_value("find_worker", str(twin.incarnation)) == twin.incarnation


async def test_an_unknown_one_is_an_error(database: Database, subtests: pytest.Subtests) -> None:
    for called in ["nobody", "%", "w_"]:
        await empty(database)
        with subtests.test(called=called):
            await SqlWorker(database, "w1").register()
            with pytest.raises(NotFound, match=f"there is no worker {called}"):
                await database.call("find_worker", called)


async def test_it_has_to_be_named(database: Database, subtests: pytest.Subtests) -> None:
    for called in ["", None]:
        with subtests.test(called=called), pytest.raises(BadInput, match="a worker must be named"):
            await database.call("find_worker", called)
