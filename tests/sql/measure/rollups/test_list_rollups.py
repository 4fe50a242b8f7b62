from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.support.sql_books import close, finish


async def test_the_last_hour_or_a_span_of_all_or_one_queue_is_listed_oldest_first(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for at, queue in [("10:30", "q"), ("11:30", "r"), ("11:31", "q"), ("11:40", "r")]:
            await finish(connection, f"2026-03-01 {at}Z", queue=queue, run=0.0)
        await close(connection, "2026-03-01 12:00:05Z")

        async def listed(*args: object) -> list[tuple[str, int]]:
            return [(row["queue"], row["starts_at"].minute) for row in await connection.call("list_rollups", *args)]

        assert await listed() == [("r", 30), ("q", 31), ("r", 40)]
        assert await listed("r") == [("r", 30), ("r", 40)]
        ten = datetime(2026, 3, 1, 10, tzinfo=UTC)
        assert await listed(None, ten, None, 2) == [("q", 30), ("r", 30)]
        assert await listed(None, ten, datetime(2026, 3, 1, 11, 31, tzinfo=UTC)) == [("q", 30), ("r", 30)]
