"""The view that get_worker and list_workers answer with."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from leasehold.database import Database
from tests.support.sql_fleet import worker_row
from tests.support.sql_jobs import empty, enqueue, pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def test_active_jobs_are_those_it_holds_running_ones_first_and_no_more_than_it_has_slots(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register(slots=3)
    assert (await worker_row(database, "w1"))["active_job_ids"] == []
    await pile_up(database, 5)
    jobs = await worker.claim(5)
    await worker.start(jobs[2:4])
    row = await worker_row(database, "w1")
    assert (row["active_jobs"], row["active_job_ids"]) == (3, [3, 4, 1])
    await worker.complete(jobs[:4])
    row = await worker_row(database, "w1")
    assert (row["active_jobs"], row["active_job_ids"]) == (1, [5])


async def test_pending_kinds_of_its_queues_that_it_has_no_handler_for(database: Database, worker: SqlWorker) -> None:
    cases: list[tuple[Sequence[str], Sequence[str], list[str]]] = [
        ((), ("a",), ["b", "c"]),
        (("q",), ("a",), ["b"]),
        (("q",), ("a", "b"), []),
        ((), (), []),
        (("other",), ("a",), []),
    ]
    for queues, kinds, missing in cases:
        await empty(database)
        for kind, queue in (("a", "q"), ("b", "q"), ("b", "q"), ("b", "r"), ("c", "r")):
            await enqueue(database, kind, queue=queue)
        await enqueue(database, "later", queue="q", delay=None)
        await database.execute("update leasehold.jobs set state = 'scheduled' where kind = 'later'")
        await worker.register(queues=queues, kinds=kinds)
        assert (await worker_row(database, "w1"))["missing_kinds"] == missing


async def register(
    connection: SqlWorker,
    at: str,
    version: str,
    app_version: str | None,
    queues: list[str],
    kinds: Sequence[str] = (),
    pid: int = 1,
) -> None:
    await freeze(connection.caller, f"2026-03-01 {at}")  # pyright: ignore[reportArgumentType]
    await connection.caller.call(
        "register_worker",
        connection.incarnation,
        connection.name,
        "h",
        pid,
        version,
        queues,
        list(kinds),
        1,
        True,
        app_version=app_version,
    )


async def test_a_worker_is_outdated_when_the_last_one_that_started_beside_it_has_another_version(
    database: Database,
) -> None:
    async with database.reserve("clocked") as connection:
        for number, (name, version, app_version, queues) in enumerate(
            [
                ("old", "1", "a", ["q"]),
                ("old app", "2", "a", ["q"]),
                ("current", "2", "b", ["q"]),
                ("elsewhere", "1", "a", ["r"]),
                ("rolled back", "3", "b", ["q"]),
                ("last", "2", "b", ["q", "s"]),
            ]
        ):
            await register(SqlWorker(connection, name), f"12:00:0{number}Z", version, app_version, queues)
        rows = await connection.call("list_workers")
    assert {row["worker_id"] for row in rows if row["outdated"]} == {"old", "old app", "rolled back"}


async def test_a_worker_is_not_compared_with_those_of_another_app(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for number, (name, version, kinds) in enumerate(
            [
                ("shop old", "1", ["echo", "dummy", "pay"]),
                ("plain old", "1", ["dummy", "echo"]),
                ("shop", "2", ["echo", "dummy", "pay", "ship"]),
                ("plain", "2", ["echo", "dummy"]),
                ("bank", "1", ["echo", "dummy", "book"]),
            ]
        ):
            await register(SqlWorker(connection, name), f"12:00:0{number}Z", version, None, [], kinds)
        rows = await connection.call("list_workers")
    assert {row["worker_id"] for row in rows if row["outdated"]} == {"shop old", "plain old"}


async def test_a_worker_of_another_system_makes_nobody_outdated(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await register(SqlWorker(connection, "ours"), "12:00:00Z", "1", None, [])
        await register(SqlWorker(connection, "theirs"), "12:00:01Z", "task worker", None, [], [], pid=0)
        await register(SqlWorker(connection, "ours too"), "12:00:02Z", "1", None, [])
        rows = await connection.call("list_workers")
    assert [row["worker_id"] for row in rows if row["outdated"]] == []


async def test_of_a_worker_that_is_gone_nothing_is_odd(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await register(worker, "12:00Z", "1", None, ["q"])
        await connection.call(
            "heartbeat_worker",
            worker.incarnation,
            0,
            "ready",
            True,
            None,
            0.9,
            0.1,
            "memory 90 %",
            10.0,
            None,
            2**20,
            1.5,
            0.5,
        )
        row = await worker_row(connection, "w1")
        assert (row["rss"], row["cpu_user"], row["cpu_system"]) == (2**20, 1.5, 0.5)
        assert (row["backoff"], row["memory"], row["cpu"]) == ("memory 90 %", pytest.approx(0.9), pytest.approx(0.1))
        await register(SqlWorker(connection, "new"), "12:05Z", "2", None, ["q"])
        row = await worker_row(connection, "w1")
    assert (row["state"], row["outdated"], row["backoff"], row["backoff_until"]) == ("stale", False, None, None)


async def test_a_row_from_before_there_were_names_has_one(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await database.execute("update leasehold.workers set name = null")
    (row,) = await database.call("list_workers")
    assert row["name"] == await database.call_value("name_worker", "w1")
