from __future__ import annotations

import trio

from leasehold.database import Caller, Database
from tests.support.sql_jobs import enqueue, events, states
from tests.support.sql_waits import freeze, frozen, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE

DAY = "2030-05-04"


async def partitions(caller: Caller, table: str = "finished_jobs") -> list[str]:
    """Names of the partitions of the days from 2030 on."""
    rows = await caller.fetch(
        "select relname::text from pg_class where relname like $1 and relkind = 'r' and relname not like '%default' order by 1",
        f"{table}_203%",
    )
    return [row[0] for row in rows]


async def where_jobs_are(caller: Caller) -> dict[int, str]:
    rows = await caller.fetch("select id, tableoid::regclass::text as place from leasehold.finished_jobs")
    return {row["id"]: row["place"].removeprefix("leasehold.") for row in rows}


async def finish_one(caller: Caller) -> int:
    """A job with an event that ends as completed."""
    worker = SqlWorker(caller)
    job_id = await enqueue(caller)
    await worker.fail(await worker.claim(), retry_in=[0.0])
    await worker.complete(await worker.claim())
    return job_id


async def test_a_migrated_database_has_the_partitions_of_a_week(fresh_database: Database) -> None:
    rows = await fresh_database.fetch(
        "select count(*) from pg_inherits where inhparent in "
        "('leasehold.finished_jobs'::regclass, 'leasehold.job_events'::regclass, 'leasehold.job_logs'::regclass) "
        "and inhrelid::regclass::text not like '%default'"
    )
    assert rows[0][0] == 3 * 8
    await finish_one(fresh_database)
    assert "default" not in str(await where_jobs_are(fresh_database))


async def test_days_from_today_on_are_made_once(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 23:59:59Z")
        assert await connection.call_value("ensure_partitions", 1) == 6
        assert await connection.call_value("ensure_partitions", 1) == 0
        assert await partitions(connection) == ["finished_jobs_20300504", "finished_jobs_20300505"]
        assert await partitions(connection, "job_events") == ["job_events_20300504", "job_events_20300505"]
        assert await partitions(connection, "job_logs") == ["job_logs_20300504", "job_logs_20300505"]
        await freeze(connection, "2030-05-05 00:00Z")
        assert await connection.call_value("ensure_partitions", 1) == 3


async def test_days_are_those_of_utc_wherever_the_caller_is(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await connection.execute("set timezone = 'Pacific/Auckland'")
        await freeze(connection, f"{DAY} 23:00Z")
        await connection.call("ensure_partitions", 0)
        await finish_one(connection)
        assert await where_jobs_are(connection) == {1: "finished_jobs_20300504"}


async def test_a_day_without_a_partition_works_and_is_tidied_up_later(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        await finish_one(connection)
        await connection.execute(f"insert into leasehold.job_logs values (1, '{DAY} 12:00Z', 1, 'info', 'said')")
        await freeze(connection, "2030-05-05 00:00Z")
        await finish_one(connection)
        assert set((await where_jobs_are(connection)).values()) == {"finished_jobs_default"}
        before = await events(connection, 1)
        await freeze(connection, f"{DAY} 13:00Z")
        assert await connection.call_value("ensure_partitions", 0) == 3
        assert await where_jobs_are(connection) == {1: "finished_jobs_20300504", 2: "finished_jobs_default"}
        logs = await connection.fetch("select message, tableoid::regclass::text from leasehold.job_logs")
        assert [tuple(row) for row in logs] == [("said", "leasehold.job_logs_20300504")]
        assert await events(connection, 1) == before
        rows = await connection.fetch("select job_id, tableoid::regclass::text from leasehold.job_events order by 1")
        assert [tuple(row) for row in rows] == [
            (1, "leasehold.job_events_20300504"),
            (2, "leasehold.job_events_default"),
        ]


async def test_a_partition_has_the_indexes_of_its_table(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, DAY)
        await connection.call("ensure_partitions", 0)
        rows = await connection.fetch("select indexdef from pg_indexes where tablename like '%20300504' order by 1")
    found = [row[0].split(" USING ")[1] for row in rows]
    assert [text for text in found if text.startswith("brin")] == [
        f"brin ({column}) WITH (pages_per_range='64', autosummarize='on')" for column in ("finished_at", "at")
    ]
    assert [text for text in found if text.startswith("btree")] == [
        "btree (chain_id, chain_position) WHERE (chain_id IS NOT NULL)",
        "btree (key, id) WHERE (key IS NOT NULL)",
        "btree (state, id) WHERE (state <> 'completed'::text)",
        "btree (at) WHERE (event = ANY (ARRAY['attempt_failed'::text, 'reaped'::text]))",
        "btree (id, finished_at)",
        "btree (job_id, at, number)",
        "btree (job_id, at, number)",
    ]


async def test_a_job_that_finishes_while_the_partition_of_its_day_is_made_is_not_lost(
    fresh_database: Database,
) -> None:
    """Its row was on the way to the default partition, where it must not go any more."""
    database = fresh_database
    worker = SqlWorker(database)
    claimed = await worker.given_all([{"kind": "a"}] * 2)

    async def complete() -> None:
        async with frozen(database, f"{DAY} 12:00Z") as settler:
            assert await insist(lambda: worker.over(settler).complete(claimed[1:])) == {}

    async with frozen(database, f"{DAY} 11:00Z") as first:
        await worker.over(first).complete(claimed[:1])
    async with trio.open_nursery() as nursery, open_transaction(database, "janitor") as janitor:
        await freeze(janitor, f"{DAY} 12:00Z")
        assert await janitor.call_value("ensure_partitions", 0) == 3
        nursery.start_soon(complete)
        await until_waiting(database, "frozen")
        await janitor.execute("commit")
    assert set((await states(database)).values()) == {"completed"}
    assert await where_jobs_are(database) == dict.fromkeys((1, 2), "finished_jobs_20300504")


async def test_nobody_waits_while_the_partitions_of_days_to_come_are_made(fresh_database: Database) -> None:
    database = fresh_database
    worker = SqlWorker(database)
    claimed = await worker.given()
    async with open_transaction(database, "janitor") as janitor, database.reserve("settler") as settler:
        await freeze(janitor, f"{DAY} 12:00Z")
        await freeze(settler, f"{DAY} 12:00Z")
        assert await settler.call_value("ensure_partitions", 0) == 3
        assert await janitor.call_value("ensure_partitions", 1) == 3
        with trio.fail_after(PATIENCE):
            assert await worker.over(settler).complete(claimed) == {}


async def test_a_day_with_many_rows_in_the_default_partition_gets_none_of_its_own(fresh_database: Database) -> None:
    """To move them would hold up all completions for seconds. A few are moved."""
    async with fresh_database.reserve("clocked") as connection:
        await connection.execute(
            f"insert into leasehold.job_events (job_id, at, event, attempt) "
            f"select n, '{DAY} 01:00Z', 'x', 1 from generate_series(1, 10001) n;"
            f"insert into leasehold.job_logs select n, '{DAY} 01:00Z', 1, 'info', 'x' from generate_series(1, 10000) n"
        )
        await freeze(connection, f"{DAY} 12:00Z")
        assert await connection.call_value("ensure_partitions", 1) == 5
        assert await connection.call_value("ensure_partitions", 1) == 0
        assert await partitions(connection, "job_events") == ["job_events_20300505"]
        assert await partitions(connection, "job_logs") == ["job_logs_20300504", "job_logs_20300505"]
        rows = await connection.fetch(
            "select (select count(*) from leasehold.job_events_default), (select count(*) from leasehold.job_logs_default)"
        )
        assert tuple(rows[0]) == (10001, 0)


async def spans(caller: Caller) -> list[tuple[str, str]]:
    """From when until when each partition of finished_jobs takes rows, from 2030 on."""
    rows = await caller.fetch(
        "select to_char(since, 'YYYY-MM-DD'), to_char(until, 'YYYY-MM-DD') from leasehold.list_partitions() "
        "where parent = 'finished_jobs' and since >= '2030-01-01' order by 1"
    )
    return [(row[0], row[1]) for row in rows]


async def test_where_jobs_are_kept_for_more_than_sixty_days_a_partition_has_several(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await connection.execute("set timezone = 'UTC'")
        await freeze(connection, f"{DAY} 12:00Z")  # a Saturday
        assert await connection.call_value("ensure_partitions", 0) == 3
        assert await connection.call_value("ensure_partitions", 9, 400) == 9
        assert await spans(connection) == [
            ("2030-05-04", "2030-05-05"),
            ("2030-05-05", "2030-05-06"),
            ("2030-05-06", "2030-05-13"),
            ("2030-05-13", "2030-05-20"),
        ]
        await finish_one(connection)
        await freeze(connection, "2030-05-20 12:00Z")
        assert await connection.call_value("ensure_partitions", 0, 14) == 3
        assert (await spans(connection))[-1] == ("2030-05-20", "2030-05-21")
        assert await connection.call_value("ensure_partitions", 14, 14) == 3 * 14


async def test_no_call_makes_more_than_asked_for(fresh_database: Database) -> None:
    """Each takes a dozen entries of the lock table, and 400 days would not fit into it."""
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        made: list[object] = []
        while not made or made[-1]:
            made.append(await connection.call_value("ensure_partitions", 12, 1, 15))
        assert made == [15, 15, 9, 0]


async def test_it_gives_way_to_an_open_transaction_and_comes_back_later(fresh_database: Database) -> None:
    database = fresh_database
    async with open_transaction(database, "dump") as dump, database.reserve("janitor") as janitor:
        await freeze(janitor, DAY)
        await dump.fetch("select count(*) from leasehold.finished_jobs")
        with trio.fail_after(PATIENCE):
            assert await janitor.call_value("ensure_partitions", 0) == 0
        await dump.execute("commit")
        assert await janitor.call_value("ensure_partitions", 0) == 3


async def test_two_at_once_make_each_partition_once(fresh_database: Database) -> None:
    made: list[object] = []

    async def ensure(name: str) -> None:
        async with fresh_database.reserve(name) as connection:
            await freeze(connection, DAY)
            made.append(await connection.call_value("ensure_partitions", 5))

    async with trio.open_nursery() as nursery:
        for name in ("one", "two", "three"):
            nursery.start_soon(ensure, name)
    async with fresh_database.reserve("last") as connection:
        await freeze(connection, DAY)
        made.append(await connection.call_value("ensure_partitions", 5))
        assert len(await partitions(connection)) == 6
    assert sum(n for n in made if isinstance(n, int)) == 18
