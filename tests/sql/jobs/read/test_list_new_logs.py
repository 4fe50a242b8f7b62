from __future__ import annotations

from datetime import datetime, timedelta

from leasehold.database import Caller, Database, Row


async def now(caller: Caller) -> datetime:
    [row] = await caller.fetch("select clock_timestamp() as at")
    return row["at"]


async def write(caller: Caller, job_id: int, *messages: str, ago: float = 0) -> None:
    number = len(messages)
    ats = [await now(caller) - timedelta(seconds=ago)] * number
    await caller.call("write_job_logs", [job_id] * number, [1] * number, ats, ["info"] * number, list(messages))


def messages(rows: list[Row]) -> list[str]:
    return [row["message"] for row in rows if row["number"] is not None]


async def test_a_reader_goes_on_where_it_was(database: Database) -> None:
    await write(database, 1, "a")
    rows = await database.call("list_new_logs", [1])
    assert messages(rows) == []
    after = rows[0]["newest_number"]
    assert messages(await database.call("list_new_logs", [1], after)) == []
    await write(database, 1, "b", "c")
    await write(database, 2, "d")
    rows = await database.call("list_new_logs", [1], after)
    assert (messages(rows), {row["newest_number"] for row in rows}) == (["b", "c"], {after + 3})
    assert messages(await database.call("list_new_logs", [1, 2], after)) == ["b", "c", "d"]
    assert messages(await database.call("list_new_logs", [1, 2], after, 2)) == ["b", "c"]


async def test_lines_of_long_ago_are_left_out(database: Database) -> None:
    await write(database, 1, "old", ago=4000)
    await write(database, 1, "new", ago=3000)
    assert messages(await database.call("list_new_logs", [1], 0)) == ["new"]


async def test_without_jobs_there_is_only_where_to_begin(database: Database) -> None:
    await write(database, 1, "a")
    [row] = await database.call("list_new_logs", [], 0)
    assert row["number"] is None
    assert row["newest_number"] > 0
