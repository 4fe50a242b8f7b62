from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze
from tests.support.sql_worker import frozen_worker


async def test_seconds_until_the_first_lease_runs_out(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await enqueue_many(connection, [{"kind": "a"}] * 2)
        assert await connection.call_value("next_expiry_in") is None
        first = await worker.claim(1, lease=30)
        await worker.start(await worker.claim(1, lease=60))
        assert await connection.call_value("next_expiry_in") == 30
        await worker.renew(first, lease=90)
        assert await connection.call_value("next_expiry_in") == 60
        await freeze(connection, "2026-03-01 12:02Z")
        assert await connection.call_value("next_expiry_in") == 0


async def test_a_deadline_counts_like_a_lease_whatever_the_state_of_the_job(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await enqueue_many(connection, [{"kind": "a"}, {"kind": "a", "delay": 60, "deadline": "2026-03-01 12:00:40Z"}])
        assert await connection.call_value("next_expiry_in") == 40
        await worker.claim(1, lease=30)
        assert await connection.call_value("next_expiry_in") == 30
        await freeze(connection, "2026-03-01 12:01Z")
        await connection.call("reap_jobs")
        assert await connection.call_value("next_expiry_in") == 0
        await connection.call("expire_jobs")
        assert await connection.call_value("next_expiry_in") is None
