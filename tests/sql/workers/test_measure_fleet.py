from __future__ import annotations

from typing import Any

from leasehold.database import Caller, Database
from tests.support.sql_guards import expire
from tests.support.sql_jobs import pile_up
from tests.support.sql_worker import SqlWorker


async def fleet(caller: Caller) -> dict[str, Any]:
    """What is not zero."""
    (row,) = await caller.call("measure_fleet")
    return {name: value for name, value in dict(row).items() if value}


async def test_without_workers_everything_is_zero(database: Database) -> None:
    (row,) = await database.call("measure_fleet")
    assert set(dict(row).values()) == {0}


async def test_workers_are_counted_by_state_and_jobs_by_lease(database: Database) -> None:
    for name, listening in (("a", True), ("b", False), ("silent", True), ("gone", True)):
        await SqlWorker(database, name).register(slots=4, listening=listening, heartbeat_seconds=30.0)
    await database.execute(
        "update leasehold.workers set heartbeat_at = heartbeat_at - interval '1 h' where worker_id = 'silent';"
        "update leasehold.workers set state = 'draining', backoff = 'CPU' where worker_id = 'b';"
        "update leasehold.workers set state = 'stopped', stopped_at = now() where worker_id = 'gone'"
    )
    await pile_up(database, 5)
    await SqlWorker(database).claim(3)
    await expire(database, 1)
    assert await fleet(database) == {
        "ready": 1,
        "draining": 1,
        "stale": 1,
        "backing_off": 1,
        "deaf": 1,
        "slots": 4,
        "held_jobs": 3,
        "overdue_jobs": 1,
    }


async def test_a_worker_that_has_no_listener_is_not_deaf(database: Database) -> None:
    await SqlWorker(database, "over http").register(slots=1, listening=False)
    assert await fleet(database) == {"ready": 1, "slots": 1}


async def test_where_32_hear_the_others_are_not_deaf_and_where_less_do_so_many_are_missed(database: Database) -> None:
    for number in range(34):
        await SqlWorker(database, f"w{number}").register(slots=1, listening=number > 1, heartbeat_seconds=30.0)
    assert "deaf" not in await fleet(database)
    await database.execute("update leasehold.workers set listening = false where worker_id in ('w7', 'w8')")
    assert (await fleet(database))["deaf"] == 2
