"""What a change does to the ticks to come; what is refused is in test_refuse_schedule."""

from __future__ import annotations

from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import empty
from tests.support.sql_schedules import change, create, fire, fire_of, planned, schedule
from tests.support.sql_waits import freeze

LATER = "2030-01-01 12:00:30Z"


async def test_new_times_hold_from_now_on(database: Database) -> None:
    cases: list[dict[str, Any]] = [
        {"every": 61},
        {"every": None, "cron": "@daily"},
        {"zone": "Europe/Berlin"},
        {"starts_at": "2030-01-02"},
        {"ends_at": "2031-01-02"},
    ]
    for fields in cases:
        await empty(database)
        async with database.reserve("clocked") as connection:
            before = await planned(connection)
            await freeze(connection, LATER)
            row = await change(connection, **fields)
            assert (row["revision"], row["planned_revision"], row["next_run_at"]) == (2, None, None)
            assert row["planned_from"] == row["updated_at"] > before["planned_from"]
            assert await fire(connection, fire_of(before, None)) == []


async def test_a_tick_that_is_due_fires_still_where_the_times_stay(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        before = await planned(connection)
        row = await change(connection, args={"a": 1}, missed="skip", queue="q")
        assert (row["revision"], row["planned_revision"]) == (2, 2)
        assert (row["next_run_at"], row["anchor"], row["planned_from"]) == (
            before["next_run_at"],
            before["anchor"],
            before["planned_from"],
        )
        assert await fire(connection, fire_of(before, None)) == [], "prepared for the definition of before"
        assert await fire(connection, fire_of(row, None)) == [(1, 0, 0, 1)]


async def test_a_new_interval_counts_from_when_it_was_set(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        before = await planned(connection)
        await freeze(connection, LATER)
        assert (await change(connection, every=60, zone="Europe/Berlin"))["anchor"] == before["anchor"]
        row = await change(connection, every=90)
        assert row["anchor"] == row["updated_at"]
        row = await change(connection, starts_at="2030-03-01")
        assert row["anchor"] == row["starts_at"]
        assert (await change(connection, cron="@daily", every=None))["anchor"] is None


CASES: list[tuple[str, str]] = [
    ("delete from leasehold.jobs", 'a schedule\'s query must be one SELECT, .*syntax error at or near "from"'),
    ("/* now */ -- go\n update leasehold.jobs set key = 'a'", "must be one SELECT"),
    ("-- some\n (select a from)", "the query failed: syntax error"),
    ("/* all */ select from where", "the query failed: syntax error"),
    ("select 1) q; drop table leasehold.jobs; select (1", "must be one SELECT, .*multi-query"),
    ("select 1; select 2", "must be one SELECT, .*syntax error"),
    ("select 1;", "must be one SELECT, and nothing after it"),
    ("with gone as (delete from leasehold.jobs returning *) select * from gone", "data-modifying"),
    ("select * from nowhere", "nowhere"),
    ("select * into copied from leasehold.jobs", "INTO"),
]


async def test_a_query_is_one_select_that_could_run(database: Database) -> None:
    for query, complaint in CASES:
        with pytest.raises(BadInput, match=complaint):
            await create(database, query=query)


async def test_a_comment_at_the_end_of_a_query_is_fine(database: Database) -> None:
    assert (await create(database, query="select 1 as n -- one"))["query"] == "select 1 as n -- one"


async def test_a_query_that_stays_is_not_looked_at_again(fresh_database: Database) -> None:
    await fresh_database.execute("create table public.shops (id int)")
    await create(fresh_database, query="select id from public.shops")
    await fresh_database.execute("drop table public.shops")
    assert (await change(fresh_database, priority=3))["priority"] == 3
    assert (await schedule(fresh_database))["enabled"]
