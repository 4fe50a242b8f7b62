from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.support.sql_books import close, finish, totals

SINCE, UNTIL = datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2026, 3, 1, 12, 1, tzinfo=UTC)


async def test_what_is_added_and_taken_off_again_leaves_no_trace(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for at in ("12:00:10", "12:01:10"):
            await finish(connection, f"2026-03-01 {at}Z", 3, wait=2.0)
        await close(connection, "2026-03-01 12:05Z")
    before = tuple(await totals(database))
    await database.call("add_rollups", SINCE, UNTIL, 1)
    more = await totals(database)
    assert (more["completed"], sum(more["waits"]), more["wait_seconds"]) == (9, 9, 18.0)
    await database.call("add_rollups", SINCE, UNTIL, -1)
    assert tuple(await totals(database)) == before
