from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker, frozen_worker


async def test_workers_are_listed_by_name_those_that_ended_last_and_only_if_asked_for(database: Database) -> None:
    for name in ("b", "a", "c"):
        worker = SqlWorker(database, name)
        await worker.register()
        if name == "a":
            await database.call("stop_worker", worker.incarnation)
    assert [(row["worker_id"], row["state"]) for row in await database.call("list_workers")] == [
        ("b", "ready"),
        ("c", "ready"),
    ]
    assert [(row["worker_id"], row["state"]) for row in await database.call("list_workers", True)] == [
        ("b", "ready"),
        ("c", "ready"),
        ("a", "stopped"),
    ]


async def test_a_worker_tells_how_long_it_is_silent_and_is_stale_after_three_minutes(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register()
        shown: list[tuple[str, float]] = []

        async def look() -> None:
            row = (await connection.call("list_workers"))[0]
            shown.append((row["state"], row["silent_for"]))

        for at in ("12:03:00Z", "12:03:01Z"):
            await freeze(connection, f"2026-03-01 {at}")
            await look()
        await connection.call("heartbeat_worker", worker.incarnation, 0, "ready", True)
        await look()
    assert shown == [("ready", 180.0), ("stale", 181.0), ("ready", 0.0)]


async def test_a_worker_that_was_killed_is_shown_for_a_day(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await SqlWorker(connection).register()
        await freeze(connection, "2026-03-02 11:59Z")
        assert [row["state"] for row in await connection.call("list_workers")] == ["stale"]
        await freeze(connection, "2026-03-02 12:00Z")
        assert await connection.call("list_workers") == []
        assert [row["state"] for row in await connection.call("list_workers", True)] == ["stale"]
