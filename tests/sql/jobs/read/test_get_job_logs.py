from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold.database import Database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def test_lines_come_oldest_first_whatever_the_order_of_their_arrival(database: Database) -> None:
    ats = [NOON + timedelta(seconds=n) for n in (2, 0, 1)]
    await database.call("write_job_logs", [1] * 3, [1] * 3, ats, ["info", "debug", "error"], ["c", "a", "b"])
    rows = await database.call("get_job_logs", 1)
    assert [tuple(row)[:4] for row in rows] == [
        (NOON, 1, "debug", "a"),
        (NOON + timedelta(seconds=1), 1, "error", "b"),
        (NOON + timedelta(seconds=2), 1, "info", "c"),
    ]
    assert sorted({row["number"] for row in rows}) == sorted(row["number"] for row in rows)


async def test_one_attempt_can_be_asked_for(database: Database) -> None:
    ats = [NOON + timedelta(seconds=n) for n in range(3)]
    await database.call("write_job_logs", [1] * 3, [1, 2, 1], ats, ["info"] * 3, ["a", "b", "c"])
    assert [row["message"] for row in await database.call("get_job_logs", 1, 1)] == ["a", "c"]
    assert [row["message"] for row in await database.call("get_job_logs", 1, 2)] == ["b"]


async def test_other_jobs_are_left_out(database: Database) -> None:
    await database.call("write_job_logs", [1, 2], [1, 1], [NOON, NOON], ["info"] * 2, ["a", "b"])
    assert [row["message"] for row in await database.call("get_job_logs", 2)] == ["b"]
    assert await database.call("get_job_logs", 3) == []
