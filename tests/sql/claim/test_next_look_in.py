from __future__ import annotations

from datetime import timedelta

from leasehold.database import Database, Lane
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_limits import enqueue_groups, limit
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def look_in(lane: Lane, *queues: str) -> float | None:
    value = await lane.call_value("next_look_in", list(queues))
    assert value is None or isinstance(value, float)
    return value if value is None else round(value, 6)


async def test_without_rates_it_is_the_next_scheduled_job(database: Database) -> None:
    async with database.lane("clocked") as lane:
        await freeze(lane, "2026-03-01 12:00Z")
        await limit(lane, 1)
        await enqueue(lane)
        assert await look_in(lane) is None
        await enqueue(lane, delay=timedelta(seconds=12))
        assert await look_in(lane) == 12


async def test_a_pending_job_that_lacks_a_token_may_start_with_the_next_one(database: Database) -> None:
    async with database.lane("clocked") as lane:
        await freeze(lane, "2026-03-01 12:00Z")
        await limit(lane, rate=0.5, burst=2)
        await enqueue_many(lane, [{"kind": "a"}] * 3)
        assert await look_in(lane) is None
        await SqlWorker(lane).claim()
        assert await look_in(lane) == 2
        assert await look_in(lane, "default", "x") == 2
        assert await look_in(lane, "x") is None
        await freeze(lane, "2026-03-01 12:00:01.5Z")
        assert await look_in(lane) == 0.5
        await freeze(lane, "2026-03-01 12:00:02Z")
        assert await look_in(lane) is None
        assert len(await SqlWorker(lane).claim()) == 1
        assert await look_in(lane) is None


async def test_of_groups_the_soonest_token_that_a_pending_job_needs_counts(database: Database) -> None:
    async with database.lane("clocked") as lane:
        await freeze(lane, "2026-03-01 12:00Z")
        await limit(lane, group="*", rate=0.1, burst=1)
        await limit(lane, group="fast", rate=1.0, burst=1)
        await enqueue_groups(lane, ["a", "b", "fast", "b"])
        await SqlWorker(lane).claim()
        assert await look_in(lane) == 10
        await enqueue_groups(lane, ["fast"])
        assert await look_in(lane) == 1
        await lane.call("pause_queue", "default")
        assert await look_in(lane) is None
