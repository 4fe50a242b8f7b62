from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze, frozen


async def test_seconds_until_the_first_scheduled_job_is_due(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        assert await connection.call_value("next_due_in") is None
        await enqueue_many(connection, [{"kind": "a"}])
        assert await connection.call_value("next_due_in") is None
        await enqueue_many(connection, [{"kind": "a", "delay": d} for d in (60, 12.25, 30)])
        assert await connection.call_value("next_due_in") == 12.25
        await freeze(connection, "2026-03-01 12:00:10Z")
        assert await connection.call_value("next_due_in") == 2.25
        await freeze(connection, "2026-03-01 13:00Z")
        assert await connection.call_value("next_due_in") == -3587.75
