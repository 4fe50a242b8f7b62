from __future__ import annotations

import trio

from leasehold.database import Database, ReservedConnection
from tests.sql.upkeep.test_ensure_partitions import finish_one, partitions
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_waits import freeze, open_transaction
from tests.support.waiting import PATIENCE


async def live_a_week(caller: ReservedConnection) -> None:
    """A job finished on each of seven days, the last today."""
    for day in range(1, 8):
        await freeze(caller, f"2030-05-0{day} 12:00Z")
        await caller.call("ensure_partitions", 0)
        await finish_one(caller)


async def test_days_older_than_what_is_kept_are_dropped_whole(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await live_a_week(connection)
        # The partitions of the real today, which the migration made, are older than all of this.
        await connection.call("drop_old_partitions", 30)
        assert await connection.call_value("drop_old_partitions", 3) == 3 * 3
        assert await partitions(connection) == [f"finished_jobs_2030050{day}" for day in (4, 5, 6, 7)]
        assert await partitions(connection, "job_events") == [f"job_events_2030050{day}" for day in (4, 5, 6, 7)]
        assert await partitions(connection, "job_logs") == [f"job_logs_2030050{day}" for day in (4, 5, 6, 7)]
        assert sorted(await states(connection)) == [4, 5, 6, 7]
        assert await connection.call("get_job_timeline", 3) == []
        assert await connection.call_value("drop_old_partitions", 3) == 0


async def test_jobs_that_are_not_finished_stay_however_old(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2001-01-01")
        await enqueue(connection)
        await freeze(connection, "2030-01-01")
        await connection.call("drop_old_partitions", 1)
        assert await states(connection) == {1: "pending"}


async def test_it_gives_way_to_an_open_transaction_and_comes_back_later(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await live_a_week(connection)
        await connection.call("drop_old_partitions", 30)
        async with open_transaction(fresh_database, "dump") as dump:
            await dump.fetch("select count(*) from leasehold.job_events")
            with trio.fail_after(PATIENCE):
                assert await connection.call_value("drop_old_partitions", 3) == 6
        assert await connection.call_value("drop_old_partitions", 3) == 3
