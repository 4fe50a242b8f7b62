from __future__ import annotations

import json
from datetime import timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.sql.workers.commands.test_wake_idle_workers import heard, idle_worker
from tests.support.sql_jobs import empty
from tests.support.sql_schedules import create, fire, fire_of, history, jobs_made, planned, schedule, set_plan
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker

NEXT = "2030-01-01 12:01Z"


def tick(second: int, outcome: str = "fired", **fields: object) -> dict[str, object]:
    return {"at": f"2030-01-01 12:00:{second:02}Z", "outcome": outcome, **fields}


async def test_a_tick_makes_its_job_and_is_written_down_with_the_next_one(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection, args={"a": 1}, priority=4)
        await freeze(connection, "2030-01-01 12:00:02Z")
        assert await fire(connection, fire_of(row, NEXT)) == [(1, 0, 0, 1)]
        [job] = await jobs_made(connection)
        assert (job["kind"], job["priority"], json.loads(job["args"]), job["state"]) == ("echo", 4, {"a": 1}, "pending")
        assert json.loads(job["metadata"]) == {"schedule": "s", "tick": "2030-01-01T12:00:00+00:00"}
        after = await schedule(connection)
        assert after["last_tick_at"] == row["next_run_at"]
        assert after["next_run_at"] - row["next_run_at"] == timedelta(minutes=1)
        assert after["last_run_at"] - row["next_run_at"] == timedelta(seconds=2)
        assert (after["last_job_count"], after["last_error"], after["revision"]) == (1, None, 1)
        [entry] = await connection.call("list_schedule_ticks", "s")
        assert (entry["origin"], entry["outcome"], entry["job_ids"], entry["fired_by"]) == (
            "timer",
            "fired",
            [job["id"]],
            "test",
        )
        assert (entry["tick_at"], entry["fired_at"]) == (row["next_run_at"], after["last_run_at"])


async def test_the_same_tick_does_not_fire_again(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection)
        assert await fire(connection, fire_of(row, NEXT), fire_of(row, NEXT)) == [(1, 0, 0, 1)]
        assert await fire(connection, fire_of(row, NEXT)) == []
        assert len(await jobs_made(connection)) == 1


async def test_nor_when_somebody_turns_the_plan_back(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection)
        await fire(connection, fire_of(row, NEXT))
        await connection.fetch("update leasehold.schedules set next_run_at = $1", row["next_run_at"])
        assert await fire(connection, fire_of(row, NEXT)) == [(0, 0, 0, 0)]
        assert len(await jobs_made(connection)) == 1


async def test_what_was_prepared_for_something_else_does_not_fire(
    database: Database, subtests: pytest.Subtests
) -> None:
    for wrong in [{"revision": 2}, {"expected": "2030-01-01 11:59Z"}, {"id": 99}]:
        await empty(database)
        with subtests.test(wrong=wrong):
            async with database.reserve("clocked") as connection:
                row = await planned(connection)
                assert await fire(connection, {**fire_of(row, NEXT), **wrong}) == []
                assert await jobs_made(connection) == []


async def test_a_tick_to_come_does_not_fire_whatever_the_caller_believes(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection)
        await freeze(connection, "2030-01-01 11:59:59.999Z")
        assert await fire(connection, fire_of(row, NEXT)) == []


async def test_one_that_another_scheduler_has_is_left_to_it(database: Database) -> None:
    async with open_transaction(database, "first") as first, database.reserve("second") as second:
        await first.execute("commit")
        row = await planned(first)
        await set_plan(first, await create(first, "other"), "2030-01-01 12:00Z")
        other = await schedule(first, "other")
        await freeze(second, "2030-01-01 12:00Z")
        await first.execute("begin")
        assert await fire(first, fire_of(row, NEXT)) == [(1, 0, 0, 1)]
        assert await fire(second, fire_of(row, NEXT), fire_of(other, NEXT)) == [(1, 0, 0, 1)]
        await first.execute("rollback")
        assert await fire(second, fire_of(row, NEXT)) == [(1, 0, 0, 1)]
        assert len(await jobs_made(second)) == 2


async def test_each_row_makes_a_job(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection, query="select 1 as n", stagger=60, batches=2)
        rows = [{"n": n, "key": f"k{n}"} for n in range(4)]
        assert await fire(connection, fire_of(row, NEXT, rows=rows)) == [(1, 0, 0, 4)]
        jobs = await jobs_made(connection)
        assert [(job["key"], json.loads(job["args"]), job["run_at"].second) for job in jobs] == [
            (f"k{n}", {"n": n}, 0 if n < 2 else 30) for n in range(4)
        ]
        assert [job["state"] for job in jobs] == ["pending", "pending", "scheduled", "scheduled"]


async def test_a_query_without_rows_fires_without_jobs(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection, query="select 1 as n")
        assert await fire(connection, fire_of(row, NEXT, rows=[])) == [(1, 0, 0, 0)]
        assert await history(connection) == [("s", "fired", None, 0)]
        assert (await schedule(connection))["last_job_count"] == 0


async def test_ticks_that_are_caught_up_with_fire_each(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection)
        await freeze(connection, "2030-01-01 12:00:30Z")
        skipped = tick(0, "skipped", reason="catch_up_limit", ticks=10, last_at="2030-01-01 12:00:09Z")
        assert await fire(connection, fire_of(row, NEXT, [skipped, tick(10), tick(11)])) == [(2, 1, 0, 2)]
        entries = await connection.call("list_schedule_ticks")
        assert [(entry["outcome"], entry["ticks"], entry["tick_at"].second) for entry in entries] == [
            ("fired", None, 11),
            ("fired", None, 10),
            ("skipped", 10, 0),
        ]
        assert (await schedule(connection))["last_tick_at"].second == 11


async def test_a_failure_is_kept_until_it_fires_again(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection)
        failed = tick(0, "failed", error="no such table")
        assert await fire(connection, fire_of(row, "2030-01-01 12:00Z", [failed])) == [(0, 0, 1, 0)]
        row = await schedule(connection)
        assert (row["last_error"], row["last_run_at"]) == ("no such table", None)
        await freeze(connection, "2030-01-01 12:00:01Z")
        await fire(connection, fire_of(row, NEXT, [tick(1)]))
        assert (await schedule(connection))["last_error"] is None
        assert await history(connection) == [("s", "failed", "no such table", 0), ("s", "fired", None, 1)]


async def test_while_a_job_is_open_ticks_are_skipped_where_overlap_is_not_allowed(
    database: Database, worker: SqlWorker
) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection, overlap="skip")
        await freeze(connection, "2030-01-01 12:00:05Z")
        assert await fire(connection, fire_of(row, "2030-01-01 12:00:02Z", [tick(0), tick(1)])) == [(1, 1, 0, 1)]
        assert await fire(connection, fire_of(await schedule(connection), "2030-01-01 12:00:03Z")) == [(0, 1, 0, 0)]
        await worker.complete(await worker.claim())
        assert await fire(connection, fire_of(await schedule(connection), NEXT)) == [(1, 0, 0, 1)]
        assert [entry[1:3] for entry in await history(connection)] == [
            ("fired", None),
            *[("skipped", "overlap")] * 2,
            ("fired", None),
        ]


async def test_where_one_is_refused_none_has_fired(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        good = await planned(connection)
        await set_plan(connection, await create(connection, "bad", query="select 1 as key"), "2030-01-01 12:00Z")
        bad = await schedule(connection, "bad")
        with pytest.raises(BadInput, match="key must be a string, not number"):
            await fire(connection, fire_of(good, NEXT), fire_of(bad, NEXT, rows=[{"key": 1}]))
        assert await jobs_made(connection) == []
        assert await history(connection) == []
        assert (await schedule(connection))["next_run_at"] == good["next_run_at"]


async def test_the_last_tick_leaves_nothing_to_come(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await planned(connection)
        await fire(connection, fire_of(row, None))
        assert (await schedule(connection))["next_run_at"] is None
        assert await connection.call_value("next_tick_in") is None


async def test_idle_workers_are_woken(fresh_database: Database) -> None:
    await idle_worker(fresh_database)
    async with fresh_database.reserve("clocked") as connection:
        row = await create(connection)
        await connection.fetch(
            "update leasehold.schedules set planned_revision = 1, next_run_at = clock_timestamp() where id = $1",
            row["id"],
        )
        row = await schedule(connection)
        assert await heard(fresh_database, lambda: fire(connection, fire_of(row, None))) == ["wake:default"]


async def test_firing_changes_no_index_of_the_schedules(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        row = await planned(connection)
        await connection.execute("begin")
        await fire(connection, fire_of(row, NEXT))
        [(updated, hot)] = await connection.fetch(
            "select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'schedules'"
        )
        assert updated == hot > 0
