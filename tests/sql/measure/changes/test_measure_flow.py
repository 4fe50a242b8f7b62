from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from leasehold.database import Caller, Database
from tests.support.sql_jobs import enqueue, pile_up
from tests.support.sql_waits import freeze
from tests.support.sql_worker import frozen_worker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def flow(caller: Caller, since: datetime, after_id: int | None) -> dict[str, tuple[Any, ...]]:
    rows = await caller.call("measure_flow", since, after_id)
    names = ("arrived", "completed", "failed", "cancelled")
    return {row["queue"]: tuple(row[name] for name in names) for row in rows if row["queue"] is not None}


async def test_what_came_and_what_ended_since_is_counted_by_queue(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        await pile_up(connection, 3, queue="a")
        await worker.complete(await worker.claim(1))
        (row,) = await connection.call("measure_flow", NOON + timedelta(seconds=1))
        assert (row["queue"], row["newest_id"], row["at"]) == (None, 3, NOON)
        await freeze(connection, "2030-01-01 12:00:02Z")
        await pile_up(connection, 2, queue="b")
        await worker.complete(await worker.claim(1, queues=["b"]))
        await worker.fail(await worker.claim(1, queues=["a"]), discard=[True])
        await connection.call("cancel_job", await enqueue(connection, queue="c"))
        since = NOON + timedelta(seconds=1)
        assert await flow(connection, since, 3) == {"a": (0, 0, 1, 0), "b": (2, 1, 0, 0), "c": (1, 0, 0, 1)}
        assert await flow(connection, since, None) == {"a": (0, 0, 1, 0), "b": (0, 1, 0, 0), "c": (0, 0, 0, 1)}
