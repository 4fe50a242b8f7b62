"""What trigger_schedule and generate_jobs share; what each promises is in their own tests."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_schedules import create, history, jobs_made, schedule
from tests.support.sql_waits import meet_twice


async def test_it_is_written_down_with_what_it_made(database: Database) -> None:
    await create(database, query="select n from generate_series(1, 3) n")
    await database.call("generate_jobs", "s", None, None, "ada")
    [entry] = await database.call("list_schedule_ticks")
    assert (entry["origin"], entry["job_ids"], entry["fired_by"]) == ("generate", [1, 2, 3], "ada")
    row = await schedule(database)
    assert (row["last_run_at"], row["last_job_count"], row["last_tick_at"]) == (entry["fired_at"], 3, None)


async def test_where_the_query_fails_nothing_is_written_down(database: Database) -> None:
    await create(database, query="select 1 / (n - n) from generate_series(1, 2) n")
    for function in ("trigger_schedule", "generate_jobs"):
        with pytest.raises(BadInput, match="division by zero"):
            await database.call(function, "s")
    assert await history(database) == []


async def test_of_two_at_once_one_makes_the_jobs_and_both_see_them(database: Database) -> None:
    await create(database)
    [row] = await meet_twice(database, lambda each: each.call("generate_jobs", "s", None, None))
    assert (row["job_ids"], row["is_new"]) == ([1], False)
    assert len(await jobs_made(database)) == 1
