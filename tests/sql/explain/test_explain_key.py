from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many, pile_up
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_work import measured
from tests.support.sql_worker import SqlWorker


async def test_the_job_that_holds_the_key_and_until_when(database: Database) -> None:
    worker = SqlWorker(database, "ada")
    await worker.register()
    await worker.given("first", key="shop 7")
    await enqueue(database, "second", key="shop 7")
    row = await because(database, 2, "key_held")
    assert row["explanation"].startswith(
        "key shop 7 is held by job 1 (first): attempt 1 on worker ada, its lease until "
    )
    found = await facts(database, 2, "key_held")
    assert (found["job_id"], found["kind"], found["worker_id"]) == (1, "first", "ada")
    assert await reasons(database, 2) == ["key_held"]


async def test_a_job_that_is_pending_still_waits_for_the_holder_and_expects_nothing(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    await worker.given_all([{"kind": kind, "key": "k"} for kind in "ab"], kinds=["a"])
    assert await reasons(database, 2) == ["key_held"]


async def test_the_line_is_counted_in_its_order(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await enqueue_many(database, [{"kind": "a", "key": "k", "priority": p} for p in (0, 0, 5, -5)])
    assert (await facts(database, 2, "key_line")) == {"key": "k", "jobs": 2, "job_id": 3}
    assert (await facts(database, 4, "key_line"))["jobs"] == 3
    assert (await because(database, 4, "key_line"))["explanation"] == (
        "3 job(s) of key k are before it in its queue and kind, first job 3"
    )
    await worker.claim(1)
    assert await reasons(database, 4) == ["key_held", "key_line"]


async def test_lines_of_other_keys_queues_and_kinds_are_others(database: Database) -> None:
    await enqueue_many(
        database,
        [
            {"kind": "a", "key": "l"},
            {"kind": "b", "key": "k"},
            {"kind": "a", "key": "k", "queue": "q"},
            {"kind": "a", "key": "k"},
            {"kind": "a", "key": "k"},
        ],
    )
    assert await facts(database, 5, "key_line") == {"key": "k", "jobs": 1, "job_id": 4}


async def test_a_job_that_waits_for_nobody_is_stranded(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}] * 2)
    await database.execute("delete from leasehold.jobs where id = 1")
    assert (await because(database, 2, "stranded"))["explanation"].startswith("it waits for key k, which nobody holds")


async def test_a_long_line_costs_whoever_stands_in_front_nothing(database: Database) -> None:
    await pile_up(database, 20_000, key="k")
    async with database.reserve("measured") as connection:
        await connection.execute("begin")
        async with measured(connection) as work:
            assert (await facts(connection, 2, "key_line"))["jobs"] == 1
        assert (work.seq_scans, work.jobs_fetched) < (1, 100)
        assert await facts(connection, 15_000, "key_line") == {"key": "k", "jobs": 10_000, "job_id": 1}
        await connection.execute("rollback")
