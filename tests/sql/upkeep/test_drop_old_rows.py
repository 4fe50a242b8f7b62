from __future__ import annotations

import trio

from leasehold.database import Database
from tests.sql.upkeep.test_ensure_partitions import finish_one
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_upkeep import forget
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


async def test_old_rows_of_the_default_partitions_go_too(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        for day in ("03", "04"):
            await freeze(connection, f"2030-05-{day} 12:00Z")
            await finish_one(connection)
        await freeze(connection, "2030-05-07 12:00Z")
        await forget(connection, 3)
        assert sorted(await states(connection)) == [2]
        assert [row[0] for row in await connection.fetch("select job_id from leasehold.job_events")] == [2]


async def test_a_default_partition_with_nothing_but_old_rows_is_emptied_as_a_whole(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2030-05-03 12:00Z")
        await finish_one(connection)
        await freeze(connection, "2030-05-07 12:00Z")
        [before] = await connection.fetch("select pg_relation_filenode('leasehold.finished_jobs_default')")
        await forget(connection, 3)
        [after] = await connection.fetch("select pg_relation_filenode('leasehold.finished_jobs_default')")
        assert await states(connection) == {}
        assert before[0] != after[0]


async def test_rows_go_in_batches_and_nobody_is_waited_for(fresh_database: Database) -> None:
    """A reader of the default partition keeps it from being emptied as a whole, and not its rows from being deleted."""
    async with fresh_database.reserve("clocked") as connection, open_transaction(fresh_database, "reader") as reader:
        await freeze(connection, "2030-05-03 12:00Z")
        for _ in range(3):
            await finish_one(connection)
        await reader.fetch("select from leasehold.finished_jobs_default")
        await reader.fetch("select from leasehold.job_events_default")
        await freeze(connection, "2030-05-07 12:00Z")
        with trio.fail_after(PATIENCE):
            assert [await connection.call_value("drop_old_rows", 3, 2) for _ in range(3)] == [4, 2, 0]


async def test_workers_with_their_commands_of_the_same_age_go_too(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        for day in ("03", "04"):
            await freeze(connection, f"2030-05-{day} 12:00Z")
            stopped, silent = SqlWorker(connection, f"stopped {day}"), SqlWorker(connection, f"silent {day}")
            await stopped.register()
            await silent.register()
            await connection.call("command_worker", silent.name, "pause")
            await connection.call("stop_worker", stopped.incarnation)
        await freeze(connection, "2030-05-07 12:00Z")
        await forget(connection, 3)
        workers = await connection.fetch("select worker_id from leasehold.workers order by 1")
        commands = await connection.fetch("select date_part('day', created_at) from leasehold.worker_commands")
        assert [row[0] for row in commands] == [4]
        assert [row[0] for row in workers] == ["silent 04", "stopped 04"]


async def test_the_audit_log_is_kept_longer_than_jobs(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        for day in ("2030-01-01", "2030-03-31", "2030-04-30"):
            await freeze(connection, f"{day} 12:00Z")
            await connection.call("write_audit", day, None, "act")
        await freeze(connection, "2030-05-07 12:00Z")
        await forget(connection, 3)
        assert [row["actor"] for row in await connection.call("list_audit")] == ["2030-04-30", "2030-03-31"]
        await freeze(connection, "2030-08-01 12:00Z")
        await forget(connection, 400)
        assert len(await connection.call("list_audit")) == 2


async def test_progress_logs_and_waiters_of_the_same_age_go_too(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2030-05-07 12:00Z")
        await enqueue(connection)
        for job_id, day in ((1, 1), (2, 1), (3, 6)):
            await connection.execute(
                f"insert into leasehold.job_progress values ({job_id}, 1, 0.5, null, '2030-05-0{day}');"
                f"insert into leasehold.job_logs values ({job_id}, '2030-05-0{day}', 1, 'info', 'said');"
                f"insert into leasehold.chain_waiters values ({job_id}, '2030-05-0{day + 2}')"
            )
        await forget(connection, 3)
        left = [
            [row[0] for row in await connection.fetch(f"select {column} from leasehold.{table} order by 1")]
            for table, column in (("job_progress", "job_id"), ("job_logs", "job_id"), ("chain_waiters", "chain_id"))
        ]
    assert left == [[1, 3], [3], [3]]
