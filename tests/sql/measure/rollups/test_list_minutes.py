from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_books import close, finish


async def test_minutes_of_the_queues_that_are_asked_for_are_told_by_queue(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for at, queue in [("10:30", "q"), ("11:30", "r"), ("11:31", "q"), ("11:40", "r"), ("11:40", "s")]:
            await finish(connection, f"2026-03-01 {at}Z", 2, queue=queue, run=0.0)
        await close(connection, "2026-03-01 12:00:05Z")
        rows = await connection.call("list_minutes", ["r", "q"])
        told = [(row["queue"], row["starts_at"].minute, row["arrivals"], row["ended"]) for row in rows]
        assert told == [("q", 31, 2, 2), ("r", 30, 2, 2), ("r", 40, 2, 2)]
        assert len(await connection.call("list_minutes", ["q"], 120)) == 2
        assert await connection.call("list_minutes", []) == []


async def test_minutes_are_kept_for_two_days(database: Database, subtests: pytest.Subtests) -> None:
    for minutes in [0, 2881]:
        with subtests.test(minutes=minutes), pytest.raises(BadInput, match="minutes must be from 1 to 2880"):
            await database.call("list_minutes", ["q"], minutes)
