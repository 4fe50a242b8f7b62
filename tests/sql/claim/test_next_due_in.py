from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze


async def test_seconds_until_the_first_scheduled_job_is_due(database: Database) -> None:
    async with database.lane("clocked") as lane:
        await freeze(lane, "2026-03-01 12:00Z")
        assert await lane.call_value("next_due_in") is None
        await enqueue_many(lane, [{"kind": "a"}])
        assert await lane.call_value("next_due_in") is None
        await enqueue_many(lane, [{"kind": "a", "delay": d} for d in (60, 12.25, 30)])
        assert await lane.call_value("next_due_in") == 12.25
        await freeze(lane, "2026-03-01 12:00:10Z")
        assert await lane.call_value("next_due_in") == 2.25
        await freeze(lane, "2026-03-01 13:00Z")
        assert await lane.call_value("next_due_in") == -3587.75
