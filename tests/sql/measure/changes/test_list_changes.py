from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from leasehold.database import Caller, Database
from tests.support.sql_jobs import empty, enqueue, pile_up
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker, frozen_worker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def changes(caller: Caller, *args: object) -> list[tuple[str, int, int]]:
    return [(row["event"], row["job_id"], row["attempt"]) for row in await caller.call("list_changes", *args)]


async def test_ends_and_what_timelines_keep_are_told_in_their_order(database: Database) -> None:
    async with frozen_worker(database, "2030-01-01 12:00Z") as (connection, worker):
        for kind in ("first", "second"):
            await enqueue(connection, kind=kind)
        await freeze(connection, "2030-01-01 12:00:01Z")
        first, second = await worker.claim()
        await worker.fail([first], retry_in=[0.0])
        await freeze(connection, "2030-01-01 12:00:02Z")
        await worker.complete([second])
        await connection.call("cancel_job", 1, "enough")
        assert await changes(connection, NOON) == [("attempt_failed", 1, 1), ("cancelled", 1, 1), ("completed", 2, 1)]
        failed, _, completed = await connection.call("list_changes", NOON)
    assert (failed["kind"], failed["queue"], failed["message"], failed["worker_id"]) == (
        "first",
        "default",
        "ValueError: boom",
        "w1",
    )
    assert (completed["chain_id"], completed["created_at"]) == (2, NOON)
    assert completed["claimed_at"] == NOON + timedelta(seconds=1)


async def test_only_what_happened_between_two_moments_is_told(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        for second in range(4):
            await freeze(connection, f"2030-01-01 12:00:0{second}Z")
            await worker.complete(await worker.given())
        since, until = NOON + timedelta(seconds=1), NOON + timedelta(seconds=3)
        assert await changes(connection, since, until) == [("completed", 2, 1), ("completed", 3, 1)]
        assert await changes(connection, since + timedelta(microseconds=1)) == [
            ("completed", 3, 1),
            ("completed", 4, 1),
        ]


async def test_pages_go_on_where_the_last_one_ended_though_many_things_happened_at_once(
    database: Database, subtests: pytest.Subtests
) -> None:
    for size in [3, 7, 100]:
        await empty(database)
        with subtests.test(size=size):
            async with frozen(database, "2030-01-01 12:00Z") as connection:
                await pile_up(connection, 20)
                worker = SqlWorker(connection)
                await worker.complete(await worker.claim(20))
                start, from_id, seen = NOON, 0, set[int]()
                while True:
                    rows = await connection.call("list_changes", start, None, from_id, size)
                    seen |= {row["job_id"] for row in rows}
                    if len(rows) < size:
                        break
                    assert (rows[-1]["at"], rows[-1]["job_id"]) > (start, from_id)
                    start, from_id = rows[-1]["at"], rows[-1]["job_id"]
            assert seen == set(range(1, 21))


async def test_of_a_deleted_chain_what_it_was_is_still_told(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given(kind="gone", queue="q"))
    await database.call("delete_chain", 1)
    rows = await database.call("list_changes", NOON.replace(year=2020))
    assert [(row["event"], row["kind"], row["queue"]) for row in rows] == [("deleted", "gone", "q")]


FILL = """
insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, finished_at, priority, attempt, spared_attempts,
       max_attempts, state, kind, queue, args)
select n, at, at, at, at, 0, 1, 0, 1, 'completed', 'k', 'q', '{}'
  from (select n, timestamptz '2030-01-01 12:00Z' + n * interval '10 ms' as at from generate_series(1, 50000) n) made;
select brin_summarize_new_values(indexrelid) from pg_index
 where indrelid = 'leasehold.finished_jobs_default'::regclass and indexrelid::regclass::text like '%finished_at%';
analyze leasehold.finished_jobs;
begin
"""
READ = """
select pg_stat_get_xact_tuples_fetched(t) + pg_stat_get_xact_tuples_returned(t)
  from (select 'leasehold.finished_jobs_default'::regclass as t) named
"""


async def test_only_the_end_of_a_big_table_is_read(fresh_database: Database) -> None:
    async with fresh_database.reserve("reader") as connection:
        await connection.execute(FILL)
        before = (await connection.fetch(READ))[0][0]
        assert len(await connection.call("list_changes", NOON + timedelta(seconds=499))) == 101
        assert (await connection.fetch(READ))[0][0] - before < 15_000
        await connection.execute("rollback")
