from __future__ import annotations

from collections.abc import Sequence

from leasehold.database import Database
from tests.support.sql_jobs import empty
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def test_a_worker_serves_what_it_has_both_the_queue_and_the_kind_of(
    database: Database, worker: SqlWorker
) -> None:
    cases: list[tuple[Sequence[str], Sequence[str], tuple[int, ...]]] = [
        ((), (), (1, 1, 1, 1)),
        (("q",), ("k",), (1, 1, 1, 1)),
        (("q", "r"), ("k", "l"), (1, 1, 1, 1)),
        (("r",), ("k",), (1, 0, 1, 0)),
        (("q",), ("l",), (1, 1, 0, 0)),
        (("r",), ("l",), (1, 0, 0, 0)),
    ]
    for queues, kinds, counts in cases:
        await empty(database)
        await worker.register(queues=queues, kinds=kinds)
        (row,) = await database.call("find_servers", "q", "k")
        assert tuple(row)[:4] == counts
        assert row["incarnations"] == ([worker.incarnation] if counts[3] else None)


async def test_only_workers_that_are_ready_and_were_heard_of(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await freeze(connection, "2026-03-01 12:00Z")
        ready, silent, draining, stopped = (SqlWorker(connection, name) for name in ("a", "b", "c", "d"))
        for each in (silent, ready, draining, stopped):
            await each.register()
        await freeze(connection, "2026-03-01 12:03:01Z")
        await connection.call("heartbeat_worker", ready.incarnation, 0, "ready", True)
        await connection.call("heartbeat_worker", draining.incarnation, 0, "draining", True)
        await connection.call("stop_worker", stopped.incarnation)
        (row,) = await connection.call("find_servers", "q", "k")
    assert (row["alive"], row["incarnations"]) == (1, [ready.incarnation])


async def test_nobody_at_all(database: Database) -> None:
    (row,) = await database.call("find_servers", "q", "k")
    assert tuple(row) == (0, 0, 0, 0, None, 0)


async def test_paused_workers_serve_nothing_for_now(database: Database) -> None:
    for name in ("paused", "paused elsewhere", "ready"):
        worker = SqlWorker(database, name)
        await worker.register(queues=["r"] if name == "paused elsewhere" else ["q"])
        if name != "ready":
            await database.call("heartbeat_worker", worker.incarnation, 0, "paused", True)
    (row,) = await database.call("find_servers", "q", "k")
    assert (row["alive"], row["of_queue"], row["serving"], row["paused"]) == (3, 2, 1, 1)
