from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UnknownWorker
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker


async def test_those_that_run_out_next_come_first_with_their_ages(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register()
        first, second = await worker.given_all([{"kind": "a", "queue": "q", "key": "k"}, {"kind": "a", "queue": "q"}])
        await freeze(connection, "2026-03-01 12:00:10Z")
        await worker.start([first])
        await freeze(connection, "2026-03-01 12:00:30Z")
        await connection.call("renew_leases", worker.incarnation, [first["job_id"]], [first["attempt"]], [60.0], [20.0])
        await freeze(connection, "2026-03-01 12:01:05Z")
        rows = await connection.call("list_leases")
    assert [row["job_id"] for row in rows] == [second["job_id"], first["job_id"]]
    ages = [(row["state"], row["held_for"], row["runs_for"], row["age"], row["left"]) for row in rows]
    assert ages == [("claimed", 65, None, 65, -5), ("running", 65, 55, 35, 25)]
    assert (rows[1]["key"], rows[1]["queue"], rows[1]["worker_id"], rows[1]["attempt"]) == ("k", "q", "w1", 1)


async def test_those_of_one_worker_can_be_asked_for(database: Database, worker: SqlWorker) -> None:
    other = SqlWorker(database, "other")
    await worker.register()
    await other.register()
    (mine,) = await worker.given_all([{"kind": "a"}] * 3, 1)
    await other.claim(2)
    assert [row["job_id"] for row in await database.call("list_leases", "w1")] == [mine["job_id"]]
    assert len(await database.call("list_leases", "other", 1)) == 1
    assert len(await database.call("list_leases")) == 3


async def test_what_cannot_be_is_refused(database: Database) -> None:
    with pytest.raises(UnknownWorker):
        await database.call("list_leases", "nobody")
    with pytest.raises(BadInput, match="most must be from 1 to 10000, not 0"):
        await database.call("list_leases", None, 0)
