from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty
from tests.support.sql_schedules import create_at, schedule
from tests.support.sql_waits import freeze


async def test_ticks_older_than_what_is_kept_are_forgotten_some_at_a_time(
    database: Database, subtests: pytest.Subtests
) -> None:
    for is_analyzed in [False, True]:
        await empty(database)
        with subtests.test(is_analyzed=is_analyzed):
            async with database.reserve("clocked") as connection:
                if is_analyzed:  # as empty, so that it is planned for next to nothing
                    await connection.execute("analyze leasehold.schedule_ticks")
                await create_at(connection, "2030-01-01 12:00Z")
                for day in range(1, 7):
                    await freeze(connection, f"2030-01-{day:02} 12:00Z")
                    await connection.call("trigger_schedule", "s")
                assert [await connection.call_value("drop_old_ticks", 2, 2) for _ in range(3)] == [2, 1, 0]
                assert [row["tick_at"].day for row in await connection.call("list_schedule_ticks")] == [6, 5, 4]
                assert (await schedule(connection))["last_job_count"] == 1
