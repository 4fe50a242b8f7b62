from __future__ import annotations

import json
from datetime import timedelta

from leasehold.database import Database, ReservedConnection
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_limits import enqueue_groups, limit
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker

IDLE_FLEET = """
select leasehold.register_worker(gen_random_uuid(), 'w', 'h', 1, '0', '{}', '{}', 1, true) from generate_series(1, 1000);
update leasehold.workers set idle = true
"""


LOOK = "explain (analyze, buffers, format json) select leasehold.next_look_in()"


async def look_in(connection: ReservedConnection, *queues: str) -> float | None:
    value = await connection.call_value("next_look_in", list(queues))
    assert value is None or isinstance(value, float)
    return value if value is None else round(value, 6)


async def test_without_rates_it_is_the_next_scheduled_job(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await limit(connection, 1)
        await enqueue(connection)
        assert await look_in(connection) is None
        await enqueue(connection, delay=timedelta(seconds=12))
        assert await look_in(connection) == 12


async def test_a_pending_job_that_lacks_a_token_may_start_with_the_next_one(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await limit(connection, rate=0.5, burst=2)
        await enqueue_many(connection, [{"kind": "a"}] * 3)
        assert await look_in(connection) is None
        await SqlWorker(connection).claim()
        assert await look_in(connection) == 2
        assert await look_in(connection, "default", "x") == 2
        assert await look_in(connection, "x") is None
        await freeze(connection, "2026-03-01 12:00:01.5Z")
        assert await look_in(connection) == 0.5
        await freeze(connection, "2026-03-01 12:00:02Z")
        assert await look_in(connection) is None
        assert len(await SqlWorker(connection).claim()) == 1
        assert await look_in(connection) is None


async def test_of_groups_the_soonest_token_that_a_pending_job_needs_counts(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await limit(connection, group="*", rate=0.1, burst=1)
        await limit(connection, group="fast", rate=1.0, burst=1)
        await enqueue_groups(connection, ["a", "b", "fast", "b"])
        await SqlWorker(connection).claim()
        assert await look_in(connection) == 10
        await enqueue_groups(connection, ["fast"])
        assert await look_in(connection) == 1
        await connection.call("pause_queue", "default")
        assert await look_in(connection) is None


async def test_of_a_large_idle_fleet_only_some_are_told_of_the_next_scheduled_job(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "delay": 60}])
    await database.execute(IDLE_FLEET)
    [[told]] = await database.fetch(
        "select count(*) from generate_series(1, 2000) where leasehold.next_look_in() is not null"
    )
    assert 20 < told < 200, "32 of a thousand"


async def test_where_nothing_is_scheduled_the_size_of_the_fleet_costs_nothing(database: Database) -> None:
    async with database.reserve("looks") as connection:

        async def blocks() -> int:
            """Of the cheapest of some looks: others may read the catalogue anew, or plan."""
            plans = [await connection.fetch(LOOK) for _ in range(10)]
            tops = [json.loads(row[0])[0]["Plan"] for [row] in plans]
            return min(top["Shared Hit Blocks"] + top["Shared Read Blocks"] for top in tops)

        alone = await blocks()
        await database.execute(IDLE_FLEET)
        assert await blocks() < alone + 10, "a thousand workers lie in more blocks"
