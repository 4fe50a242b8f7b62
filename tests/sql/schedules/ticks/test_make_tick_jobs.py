from __future__ import annotations

import json
from typing import Any

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty
from tests.support.sql_schedules import create

ASK = (
    "select leasehold.make_tick_jobs(s, '2030-01-01 12:00Z', $1::text[]::jsonb[], '2030-01-01 12:00:05Z', $2, $3) "
    "from leasehold.schedules s where name = 's'"
)


async def made(database: Database, rows: list[Any] | None, stagger: float = 0, batches: int | None = None) -> list[Any]:
    given = None if rows is None else [json.dumps(row) for row in rows]
    return [json.loads(job) for job in (await database.fetch(ASK, given, stagger, batches))[0][0]]


async def test_without_a_query_it_is_one_job(database: Database) -> None:
    await create(
        database, args={"a": 1}, key="k", queue="q", priority=3, metadata={"team": "x"}, max_attempts=4, timeout=9
    )
    [job] = await made(database, None)
    assert job == {
        "kind": "echo",
        "args": {"a": 1},
        "queue": "q",
        "priority": 3,
        "key": "k",
        "key_group": None,
        "max_attempts": 4,
        "timeout": 9,
        "delay": None,
        "run_at": "2030-01-01T12:00:05+00:00",
        "metadata": {"team": "x", "schedule": "s", "tick": "2030-01-01T12:00:00+00:00"},
    }


async def test_columns_become_args_over_those_of_the_schedule(database: Database) -> None:
    await create(database, args={"a": 1, "b": 2})
    jobs = await made(database, [{"a": 7}, {"c": None, "args": {"key": "x"}}])
    assert [job["args"] for job in jobs] == [{"a": 7, "b": 2}, {"a": 1, "b": 2, "c": None, "key": "x"}]


async def test_some_columns_are_about_the_job(database: Database) -> None:
    await create(database, priority=1, queue="q", key="mine", metadata={"a": 1})
    row = {
        "key": "k",
        "key_group": "g",
        "priority": 9,
        "queue": "r",
        "max_attempts": 2,
        "metadata": {"b": 2},
        "run_at": "2031-01-01",
    }
    nulls = dict.fromkeys(row)
    first, second = await made(database, [row, nulls])
    assert first["args"] == second["args"] == {}
    assert {name: first[name] for name in row if name != "metadata"} == {
        name: row[name] for name in row if name != "metadata"
    }
    assert first["metadata"].items() >= {"a": 1, "b": 2}.items()
    assert (second["key"], second["queue"], second["priority"], second["max_attempts"]) == ("mine", "q", 1, None)
    assert second["run_at"] == "2030-01-01T12:00:05+00:00"


async def test_a_delay_takes_the_place_of_the_time(database: Database) -> None:
    await create(database)
    [job] = await made(database, [{"delay": 60}], stagger=100)
    assert (job["delay"], job["run_at"], job["args"]) == (60, None, {})


async def test_they_are_spread_over_the_window(database: Database, subtests: pytest.Subtests) -> None:
    for batches, seconds in [
        (None, [0, 10, 20, 30, 40, 50]),
        (2, [0, 0, 0, 30, 30, 30]),
        (4, [0, 0, 15, 30, 30, 45]),
        (100, [0, 9.6, 19.8, 30, 39.6, 49.8]),
    ]:
        await empty(database)
        with subtests.test(batches=batches, seconds=seconds):
            await create(database)
            jobs = await made(database, [{"n": n} for n in range(6)], 60, batches)
            starts = [5 + second for second in seconds]
            assert [float(job["run_at"].split(":")[2].removesuffix("+00")) for job in jobs] == pytest.approx(starts)
            assert [job["args"]["n"] for job in jobs] == list(range(6))


async def test_no_rows_no_jobs(database: Database) -> None:
    await create(database)
    assert await made(database, []) == []
