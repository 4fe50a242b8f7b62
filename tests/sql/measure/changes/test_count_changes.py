from __future__ import annotations

from datetime import datetime, timedelta

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def test_it_counts_what_list_changes_lists_by_second(database: Database) -> None:
    async with database.lane("clocked") as lane:
        worker = SqlWorker(lane)
        for at in ("12:00:00.1", "12:00:00.9", "12:00:02"):
            await freeze(lane, f"2030-01-01 {at}Z")
            await enqueue(lane)
            await worker.complete(await worker.claim())
        await lane.call("retry_job", await enqueue(lane, delay=timedelta(seconds=10)))
        noon = int(NOON.timestamp())
        rows = await lane.call("count_changes", NOON, NOON + timedelta(seconds=10))
        assert {row["second"] - noon: (row["changes"], int(row["ids"])) for row in rows} == {0: (2, 3), 2: (2, 7)}
        assert await lane.call("count_changes", NOON, NOON) == []
        assert await lane.call("count_changes", NOON + timedelta(seconds=3), NOON + timedelta(seconds=9)) == []
