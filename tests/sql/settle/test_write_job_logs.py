from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from leasehold.database import Caller, Database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def write(caller: Caller, *lines: tuple[int, str], attempt: int = 1, start: int = 0) -> object:
    """Lines as (job, message), a millisecond apart."""
    ats = [NOON + timedelta(milliseconds=start + n) for n in range(len(lines))]
    return await caller.call_value(
        "write_job_logs",
        [job for job, _ in lines],
        [attempt] * len(lines),
        ats,
        ["info"] * len(lines),
        [message for _, message in lines],
    )


async def messages(caller: Caller, job_id: int = 1) -> Sequence[str]:
    return [row["message"] for row in await caller.call("get_job_logs", job_id)]


async def test_lines_of_several_jobs_are_kept_in_their_order(database: Database) -> None:
    assert await write(database, (1, "a"), (2, "x"), (1, "b"), (2, "y")) == 4
    assert await messages(database, 1) == ["a", "b"]
    assert await messages(database, 2) == ["x", "y"]


async def test_nothing_is_written_for_no_lines(database: Database) -> None:
    assert await write(database) == 0


async def test_a_long_line_is_cut(database: Database) -> None:
    await write(database, (1, "x" * 4001))
    assert await messages(database) == ["x" * 4000]


async def test_of_many_lines_in_one_call_a_thousand_are_kept_and_the_last_says_so(database: Database) -> None:
    assert await write(database, *[(1, str(n)) for n in range(1200)], (2, "of another job")) == 1001
    kept = await messages(database)
    assert len(kept) == 1000
    assert kept[:999] == [str(n) for n in range(999)]
    assert kept[999] == "more lines follow; the first 999 are kept"
    assert await messages(database, 2) == ["of another job"]


async def test_of_many_lines_in_many_calls_a_thousand_are_kept(database: Database) -> None:
    assert [await write(database, *[(1, str(n)) for n in range(450)], start=450 * k) for k in range(4)] == [
        450,
        450,
        100,
        0,
    ]
    assert len(await messages(database)) == 1000
    assert (await messages(database))[-1] == "more lines follow; the first 999 are kept"


async def test_attempts_share_the_thousand(database: Database) -> None:
    await write(database, *[(1, str(n)) for n in range(999)])
    assert await write(database, (1, "of the second"), (1, "attempt"), attempt=2, start=2000) == 1
    assert (await messages(database))[-1].startswith("more lines follow")


async def test_lines_go_to_the_partition_of_their_day(database: Database) -> None:
    today = (await database.fetch("select leasehold.clock() as at"))[0]["at"]
    await database.call("write_job_logs", [1], [1], [today], ["info"], ["today"])
    (row,) = await database.fetch("select tableoid::regclass::text as name from leasehold.job_logs")
    assert row["name"] == f"leasehold.job_logs_{today.astimezone(UTC):%Y%m%d}"
