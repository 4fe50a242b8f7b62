from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_books import close, finish


async def test_steps_are_of_equal_length_with_empty_ones_among_them(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 11:30:30Z", 30, run=1.0, wait=3.0)
        await finish(connection, "2026-03-01 11:31:30Z", 10, run=5.0, wait=3.0)
        await finish(connection, "2026-03-01 11:59:30Z", 2, state="failed")
        await finish(connection, "2026-03-01 11:59:30Z", 7, queue="other")
        await close(connection, "2026-03-01 12:00:05Z")
        rows = await connection.call("measure_history", "q", 1.0, 6)
        minutes = await connection.call("measure_history", "q")
        nobody = await connection.call("measure_history", "nobody", 0.5, 1)
    assert [(row["at"].minute, row["seconds"], row["completed"], row["failed"]) for row in rows] == [
        (0, 600, 0, 0), (10, 600, 0, 0), (20, 600, 0, 0), (30, 600, 40, 0), (40, 600, 0, 0), (50, 600, 0, 2)
    ]  # fmt: skip
    assert (rows[3]["average_wait"], rows[3]["average_run"]) == (3.0, 2.0)
    assert (rows[3]["p50_run"], rows[3]["p95_run"]) == (
        pytest.approx(0.853, abs=0.01),
        pytest.approx(7.372, abs=0.01),
    )
    assert (rows[0]["average_wait"], rows[0]["p95_wait"]) == (None, None)
    assert (len(minutes), minutes[0]["seconds"], minutes[30]["completed"]) == (60, 60, 30)
    assert [(row["arrivals"], row["seconds"]) for row in nobody] == [(0, 1800)]


async def test_no_step_is_shorter_than_a_minute(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await close(connection, "2026-03-01 12:00:05Z")
        assert len(await connection.call("measure_history", "q", 0.1, 500)) == 6
