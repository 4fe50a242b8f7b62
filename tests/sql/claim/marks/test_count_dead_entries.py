from __future__ import annotations

from leasehold.database import Database, ReservedConnection
from tests.support.sql_horizon import old_snapshot
from tests.support.sql_jobs import pile_up
from tests.support.sql_worker import SqlWorker

COUNT = "select leasehold.count_dead_entries('leasehold.jobs_pending'::regclass)"
BY_INDEX = "set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off"
LOOK = "select id from leasehold.jobs where state = 'pending' order by queue, kind limit 1"


async def test_entries_of_claimed_jobs_count_and_those_of_pending_ones_do_not(fresh_database: Database) -> None:
    async def dead(reserved: ReservedConnection) -> int:
        await reserved.execute(f"begin; {BY_INDEX}")
        [[before]] = await reserved.fetch(COUNT)
        await reserved.fetch(LOOK)
        [[after]] = await reserved.fetch(COUNT)
        await reserved.execute("rollback")
        return after - before

    async with old_snapshot(fresh_database), fresh_database.reserve("look") as reserved:
        await pile_up(fresh_database, 31)
        assert await dead(reserved) == 0
        await SqlWorker(fresh_database).claim(30)
        assert await dead(reserved) == 30
