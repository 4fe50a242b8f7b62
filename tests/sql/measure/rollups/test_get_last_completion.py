from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.support.sql_books import close, finish


async def test_the_last_completion_is_known_before_and_after_its_minute_is_closed(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        assert await connection.call_value("get_last_completion", "q") is None
        await finish(connection, "2026-03-01 12:00:10Z")
        await finish(connection, "2026-03-01 12:00:20Z", state="failed")
        await finish(connection, "2026-03-01 12:00:30Z", queue="r")
        assert await connection.call_value("get_last_completion", "q") == datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)
        await close(connection, "2026-03-01 12:01:30Z")
        await connection.execute("delete from leasehold.finished_jobs where queue = 'q'")
        assert await connection.call_value("get_last_completion", "q") == datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)
        await finish(connection, "2026-03-01 12:01:40Z")
        assert await connection.call_value("get_last_completion", "q") == datetime(2026, 3, 1, 12, 1, 40, tzinfo=UTC)
