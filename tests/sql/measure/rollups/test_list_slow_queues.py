from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_books import close, finish


async def test_a_queue_is_slow_when_its_attempts_take_much_longer_than_before(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for queue, before, now in (
            ("slow", 0.5, 20.0),
            ("as ever", 5.0, 6.0),
            ("tiny", 0.01, 0.2),
            ("slower", 10.0, 90.0),
        ):
            await finish(connection, "2026-03-01 11:20:30Z", 20, queue=queue, run=before)
            await finish(connection, "2026-03-01 11:57:30Z", 12, queue=queue, run=now)
        await close(connection, "2026-03-01 12:00:05Z")
        rows = await connection.call("list_slow_queues")
        strict = await connection.call("list_slow_queues", factor=20.0)
        tiny = await connection.call("list_slow_queues", margin=0.0)
    assert [row["queue"] for row in rows] == ["slower", "slow"]
    assert (rows[1]["average_run"], rows[1]["usual_run"]) == (pytest.approx(20.0), pytest.approx(0.5))
    assert (rows[1]["ended"], rows[1]["usually_ended"], rows[1]["until"].minute) == (12, 20, 0)
    assert [row["queue"] for row in strict] == ["slow"]
    assert {row["queue"] for row in tiny} == {"slow", "slower", "tiny"}


async def test_of_few_attempts_nothing_is_said(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 11:20:30Z", 20, run=0.5)
        await finish(connection, "2026-03-01 11:57:30Z", 9, run=60.0)
        await close(connection, "2026-03-01 12:00:05Z")
        assert await connection.call("list_slow_queues") == []
        assert len(await connection.call("list_slow_queues", fewest=9)) == 1
