from __future__ import annotations

from datetime import datetime, timedelta

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import freeze
from tests.support.sql_worker import frozen_worker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def test_the_failures_of_a_group_are_listed_latest_first(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 11:00Z") as (connection, worker):
        await worker.register()
        await connection.fetch("update leasehold.workers set app_version = '2.0'")
        for minute, kind, is_final in ((1, "pay", True), (2, "mail", True), (3, "pay", False)):
            await freeze(connection, f"2030-01-01 11:{minute:02}Z")
            await enqueue(connection, kind)
            await worker.fail(await worker.claim(1), discard=[is_final], retry_in=[3600.0])
        await freeze(connection, "2030-01-01 12:00Z")
        groups = {row["kind"]: row["fingerprint"] for row in await connection.call("list_failure_groups")}
        rows = await connection.call("list_group_failures", groups["pay"])
        assert [(row["job_id"], row["is_final"], row["app_version"]) for row in rows] == [
            (3, False, "2.0"),
            (1, True, "2.0"),
        ]
        assert (rows[0]["message"], rows[0]["worker_id"], rows[0]["attempt"]) == ("ValueError: boom", "w1", 1)
        final = await connection.call("list_group_failures", groups["pay"], only_final=True)
        assert [row["job_id"] for row in final] == [1]
        assert len(await connection.call("list_group_failures", groups["pay"], page_size=1)) == 1
        late = await connection.call("list_group_failures", groups["pay"], NOON - timedelta(minutes=58))
        assert [row["job_id"] for row in late] == [3]
