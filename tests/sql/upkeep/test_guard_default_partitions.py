from __future__ import annotations

import trio

from leasehold.actors.supervise import supervise
from leasehold.actors.upkeep.janitor import Janitor
from leasehold.database import Caller, Database
from tests.sql.upkeep.test_ensure_partitions import finish_one, partitions, where_jobs_are
from tests.support.callers import FragileCaller
from tests.support.sql_jobs import Scripted
from tests.support.sql_waits import freeze, open_transaction
from tests.support.waiting import PATIENCE, until

DAY = "2030-05-04"
LOOKED_THROUGH = """
select sum(seq_scan) from pg_stat_xact_all_tables where relname in ('finished_jobs_default', 'job_logs_default')
"""


async def fill_defaults(caller: Scripted, day: str = DAY) -> None:
    """More rows of one day in two default partitions than anybody may look through while others wait."""
    await caller.execute(
        f"insert into leasehold.job_logs select n, '{day} 01:00Z', 1, 'info', repeat('x', 1900) from generate_series(1, 10500) n;"
        "insert into leasehold.finished_jobs (id, created_at, run_at, finished_at, priority, attempt, spared_attempts, "
        f"max_attempts, state, kind, queue, args) select -n, '{day}', '{day}', '{day} 01:00Z', 0, 1, 0, 1, 'completed', 'noop', "
        "'default', to_jsonb(repeat('x', 1900)) from generate_series(1, 10500) n"
    )


async def guards(caller: Caller) -> dict[str, bool]:
    """The tables whose default partition has a guard, and whether it is proved."""
    rows = await caller.fetch(
        "select parent, is_proved from leasehold.list_default_partitions() where guarded_from is not null"
    )
    return {row["parent"]: row["is_proved"] for row in rows}


async def call_all(caller: Caller, function: str, *args: int) -> list[object]:
    """Call it until it does nothing more."""
    done = [await caller.call_value(function, *args)]
    while done[-1]:
        done.append(await caller.call_value(function, *args))
    return done


async def test_partitions_beside_a_large_default_partition_are_made_without_a_look_through_it(
    fresh_database: Database,
) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        await fill_defaults(connection)
        assert await call_all(connection, "ensure_partitions", 3) == [4, 0]
        assert await partitions(connection) == []
        assert await call_all(connection, "guard_default_partitions", 3) == [2, 2, 0]
        assert await guards(connection) == {"finished_jobs": True, "job_logs": True}
        await connection.execute("begin")
        before = await connection.fetch(LOOKED_THROUGH)
        assert await call_all(connection, "ensure_partitions", 3, 1, 1) == [1, 1, 1, 1, 0]
        assert await connection.fetch(LOOKED_THROUGH) == before
        await connection.execute("commit")
        assert await partitions(connection) == ["finished_jobs_20300506", "finished_jobs_20300507"]
        assert await partitions(connection, "job_logs") == ["job_logs_20300506", "job_logs_20300507"]
        assert await call_all(connection, "guard_default_partitions", 3) == [2, 0]
        assert await guards(connection) == {}


async def test_a_guard_begins_with_the_first_day_that_lacks_a_partition(fresh_database: Database) -> None:
    """One that is left behind for good meets rows a week later, and not the day after tomorrow."""
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        await call_all(connection, "ensure_partitions", 6)
        await fill_defaults(connection, "2030-05-01")
        assert await connection.call_value("guard_default_partitions", 7) == 2
        rows = await connection.fetch(
            "select distinct guarded_from::date::text as day from leasehold.list_default_partitions() where is_large"
        )
        assert [row["day"] for row in rows] == ["2030-05-11"]


async def test_small_default_partitions_need_no_guards(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        await finish_one(connection)
        assert await connection.call_value("guard_default_partitions", 7) == 0
        assert await guards(connection) == {}


async def test_jobs_finish_while_a_guard_is_proved_and_where_one_was_left(fresh_database: Database) -> None:
    """Rows of today and tomorrow go past it into the default partition."""
    async with open_transaction(fresh_database, "janitor") as janitor, fresh_database.reserve("settler") as settler:
        await freeze(janitor, f"{DAY} 12:00Z")
        await freeze(settler, f"{DAY} 12:00Z")
        await fill_defaults(settler)
        assert await settler.call_value("guard_default_partitions", 7) == 2
        assert await janitor.call_value("guard_default_partitions", 7) == 2
        with trio.fail_after(PATIENCE):
            today = await finish_one(settler)
        await freeze(settler, "2030-05-05 23:59Z")
        with trio.fail_after(PATIENCE):
            tomorrow = await finish_one(settler)
        places = await where_jobs_are(settler)
    assert (places[today], places[tomorrow]) == ("finished_jobs_default", "finished_jobs_default")


async def test_a_guard_that_was_left_goes_before_its_day_comes(fresh_database: Database) -> None:
    """Its janitor died; that of the next day begins anew."""
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        await fill_defaults(connection)
        assert await connection.call_value("guard_default_partitions", 7) == 2
        await freeze(connection, "2030-05-05 00:00Z")
        assert await connection.call_value("guard_default_partitions", 7) == 2
        assert await guards(connection) == {}
        assert await call_all(connection, "guard_default_partitions", 7) == [2, 2, 0]
        assert (await call_all(connection, "ensure_partitions", 7))[0] == 6 + 6 + 8


async def test_rows_of_days_to_come_stay_where_they_are_and_no_guard_is_made(fresh_database: Database) -> None:
    """The clock of the database was days ahead for a while."""
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        await fill_defaults(connection)
        await connection.execute("insert into leasehold.job_logs values (1, '2030-05-08', 1, 'info', 'said')")
        assert await call_all(connection, "guard_default_partitions", 7) == [1, 1, 0]
        assert await guards(connection) == {"finished_jobs": True}


async def test_a_row_of_a_day_to_come_that_came_in_between_ends_the_guard(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, f"{DAY} 12:00Z")
        await fill_defaults(connection)
        async with open_transaction(fresh_database, "ahead") as ahead:
            await ahead.execute("insert into leasehold.job_logs values (1, '2030-05-08', 1, 'info', 'said')")
            assert await connection.call_value("guard_default_partitions", 7) == 1  # it gives way
            await ahead.execute("commit")
        await connection.execute(
            "alter table leasehold.job_logs_default add constraint no_days_to_come check (at < '2030-05-06Z') not valid"
        )
        assert await call_all(connection, "guard_default_partitions", 7) == [2, 0]
        assert await guards(connection) == {"finished_jobs": True}


async def test_the_janitor_makes_the_days_to_come_and_leaves_no_guard(fresh_database: Database) -> None:
    async with fresh_database.reserve("janitor") as reserved, trio.open_nursery() as nursery:
        await freeze(reserved, f"{DAY} 12:00Z")
        await fill_defaults(reserved)
        connection = FragileCaller(reserved)
        janitor = Janitor(connection, keep_days=14)
        nursery.start_soon(supervise, janitor)
        await until(lambda: "drop_old_partitions" in connection.calls)
        janitor.drain()
    assert len(await partitions(fresh_database)) == len(await partitions(fresh_database, "job_logs")) == 6
    assert len(await partitions(fresh_database, "job_events")) == 8
    assert await guards(fresh_database) == {}
