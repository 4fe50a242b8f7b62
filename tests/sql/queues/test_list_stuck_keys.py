from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker


async def test_a_key_is_stuck_when_one_job_holds_it_for_long_and_others_wait(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register()
        first, *_ = await enqueue_many(
            connection, [{"kind": "k", "key": key} for key in ("shop", "shop", "shop", "own")]
        )
        assert len(await worker.claim(lease=3600)) == 2
        await freeze(connection, "2026-03-01 12:04Z")
        assert await connection.call("list_stuck_keys") == []
        await freeze(connection, "2026-03-01 12:06Z")
        [row] = await connection.call("list_stuck_keys")
        assert (row["key"], row["job_id"], row["kind"], row["worker_id"]) == ("shop", first, "k", worker.name)
        assert (row["waiting"], row["held_for"], row["attempt"]) == (2, 360.0, 1)
        assert await connection.call("list_stuck_keys", 361.0) == []


async def test_those_that_are_held_longest_come_first(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await worker.register()
        for minute, key in ((10, "late"), (0, "early")):
            await freeze(connection, f"2026-03-01 12:{minute:02}Z")
            await worker.given_all([{"kind": "k", "key": key, "run_at": "2026-03-01 11:00Z"}] * 2, lease=3600)
        await freeze(connection, "2026-03-01 12:30Z")
        assert [row["key"] for row in await connection.call("list_stuck_keys")] == ["early", "late"]
        assert [row["key"] for row in await connection.call("list_stuck_keys", 300.0, 1)] == ["early"]
