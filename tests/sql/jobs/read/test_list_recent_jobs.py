from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_books import call_everything_big, close, finish
from tests.support.sql_jobs import empty
from tests.support.sql_waits import freeze


async def test_the_last_ones_of_a_queue_come_first(database: Database, subtests: pytest.Subtests) -> None:
    for is_big in [False, True]:
        await empty(database)
        with subtests.test(is_big=is_big):
            async with database.reserve("clocked") as connection:
                for at, queue, state in [
                    ("08:00", "q", "completed"),
                    ("09:00", "q", "failed"),
                    ("09:30", "r", "completed"),
                    ("11:00:10", "q", "cancelled"),
                    ("11:00:20", "q", "completed"),
                    ("11:59:59", "q", "completed"),
                ]:
                    await finish(connection, f"2026-03-01 {at}Z", queue=queue, state=state)
                await close(connection, "2026-03-01 11:59:30Z")
                await freeze(connection, "2026-03-01 12:00Z")
                if is_big:
                    await call_everything_big(connection)

                async def recent(*args: object) -> list[str]:
                    return [
                        f"{row['finished_at']:%H:%M:%S}"
                        for row in await connection.call("list_recent_jobs", "q", *args)
                    ]

                assert await recent() == ["11:59:59", "11:00:20", "11:00:10", "09:00:00", "08:00:00"]
                assert await recent(None, 2) == ["11:59:59", "11:00:20"]
                assert await recent("completed", 3) == ["11:59:59", "11:00:20", "08:00:00"]
                assert await connection.call("list_recent_jobs", "nobody") == []
