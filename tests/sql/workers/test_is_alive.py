from __future__ import annotations

from collections.abc import Sequence

import pytest

from leasehold.database import Database, ReservedConnection
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_waits import freeze
from tests.support.sql_worker import frozen_worker


async def states(caller: ReservedConnection, seconds: Sequence[int]) -> list[str]:
    """How the only worker is shown so many seconds after it began."""
    shown: list[str] = []
    for second in seconds:
        await freeze(caller, f"2026-03-01 12:{second // 60:02}:{second % 60:02}Z")
        shown += [row["state"] for row in await caller.call("list_workers")]
    return shown


async def test_a_worker_is_stale_when_it_has_missed_two_of_its_heartbeats(
    database: Database, subtests: pytest.Subtests
) -> None:
    for heartbeat_seconds, last, first in [(30.0, 75, 76), (2.0, 5, 6), (120.0, 300, 301), (None, 180, 181)]:
        await empty(database)
        with subtests.test(heartbeat_seconds=heartbeat_seconds, last=last, first=first):
            async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
                await worker.register(heartbeat_seconds=heartbeat_seconds)
                assert await states(connection, [last, first]) == ["ready", "stale"]
                await connection.call("heartbeat_worker", worker.incarnation, 0, "ready", True)
                assert await states(connection, [first]) == ["ready"]


async def test_a_worker_whose_jobs_were_taken_back_is_stale_until_it_is_heard_of(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register(heartbeat_seconds=30.0)
        await enqueue(connection)
        await worker.claim(lease=10.0)
        await freeze(connection, "2026-03-01 12:00:11Z")
        await connection.call("reap_jobs", 10)
        assert await states(connection, [12]) == ["stale"]
        await connection.call("heartbeat_worker", worker.incarnation, 0, "ready", True)
        assert await states(connection, [13]) == ["ready"]


async def test_a_worker_that_renews_its_leases_lives_though_its_loop_is_blocked(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register(heartbeat_seconds=10.0)
        await enqueue(connection)
        [job] = await worker.claim(lease=60.0)
        await freeze(connection, "2026-03-01 12:00:40Z")
        await worker.renew([job])
        assert await states(connection, [41, 65, 66]) == ["ready", "ready", "stale"]


async def test_it_becomes_part_of_the_query_that_asks(database: Database) -> None:
    """A call for each worker is what most pages of the dashboard would cost."""
    asked = "leasehold.workers w cross join (select leasehold.clock() as now) t where leasehold.is_alive(w, t.now)"
    plan = await database.fetch(f"explain (verbose) select w.worker_id from {asked}")
    assert [line for (line,) in plan if "is_alive" in line] == []
