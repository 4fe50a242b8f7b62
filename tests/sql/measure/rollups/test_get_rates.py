from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_books import close, finish


async def test_the_last_minutes_are_summed_up_by_queue(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 11:00:30Z", 100)
        await finish(connection, "2026-03-01 11:55:30Z", 30, run=1.0, wait=3.0)
        await finish(connection, "2026-03-01 11:59:30Z", 10, run=5.0, wait=3.0)
        await finish(connection, "2026-03-01 11:59:30Z", queue="r", state="cancelled")
        await close(connection, "2026-03-01 12:00:05Z")
        one, other = await connection.call("get_rates", None, 10)
        assert [tuple(row) for row in await connection.call("get_rates", "r", 10)] == [tuple(other)]
        assert await connection.call("get_rates", "nobody") == []
    assert (one["queue"], one["completed"], one["arrivals"], one["seconds"]) == ("q", 40, 40, 600.0)
    assert (one["since"].minute, one["until"].minute) == (50, 0)
    assert (one["average_wait"], one["average_run"]) == (3.0, 2.0)
    assert one["run_variation"] == pytest.approx(0.75)
    assert (one["p50_run"], one["p95_run"]) == (pytest.approx(0.853, abs=0.01), pytest.approx(7.372, abs=0.01))
    assert (other["queue"], other["cancelled"], other["average_wait"], other["p95_wait"]) == ("r", 1, None, None)
