from __future__ import annotations

import pytest
import trio

from leasehold.database import Database, ReservedConnection
from leasehold.errors import BadInput
from tests.sql.upkeep.test_ensure_partitions import finish_one, partitions
from tests.support.sql_edges import complete_all, enqueue_blocked
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_unique import enqueue_unique
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker


async def live_a_week(caller: ReservedConnection) -> None:
    """A job finished on each of seven days, the last today."""
    for day in range(1, 8):
        await freeze(caller, f"2030-05-0{day} 12:00Z")
        await caller.call("ensure_partitions", 0)
        await finish_one(caller)


async def test_days_older_than_what_is_kept_are_dropped_whole(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await live_a_week(connection)
        # The partitions of the real today, which the migration made, are older than all of this.
        await connection.call("drop_old_partitions", 30)
        assert await connection.call_value("drop_old_partitions", 3) == 3 * 3
        assert await partitions(connection) == [f"finished_jobs_2030050{day}" for day in (4, 5, 6, 7)]
        assert await partitions(connection, "job_events") == [f"job_events_2030050{day}" for day in (4, 5, 6, 7)]
        assert await partitions(connection, "job_logs") == [f"job_logs_2030050{day}" for day in (4, 5, 6, 7)]
        assert sorted(await states(connection)) == [4, 5, 6, 7]
        assert await connection.call("get_job_timeline", 3) == []
        assert await connection.call_value("drop_old_partitions", 3) == 0


async def test_old_rows_of_the_default_partitions_go_too(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        for day in ("03", "04"):
            await freeze(connection, f"2030-05-{day} 12:00Z")
            await finish_one(connection)
        await freeze(connection, "2030-05-07 12:00Z")
        await connection.call("drop_old_partitions", 3)
        assert sorted(await states(connection)) == [2]
        assert [row[0] for row in await connection.fetch("select job_id from leasehold.job_events")] == [2]


async def test_jobs_that_are_not_finished_stay_however_old(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2001-01-01")
        await enqueue(connection)
        await freeze(connection, "2030-01-01")
        await connection.call("drop_old_partitions", 1)
        assert await states(connection) == {1: "pending"}


async def test_idempotency_keys_and_workers_with_their_commands_of_the_same_age_go_too(
    fresh_database: Database,
) -> None:
    async with fresh_database.reserve("clocked") as connection:
        for day in ("03", "04"):
            await freeze(connection, f"2030-05-{day} 12:00Z")
            await enqueue(connection, idempotency_key=f"of {day}")
            stopped, silent = SqlWorker(connection, f"stopped {day}"), SqlWorker(connection, f"silent {day}")
            await stopped.register()
            await silent.register()
            await connection.call("command_worker", silent.name, "pause")
            await connection.call("stop_worker", stopped.incarnation)
        await freeze(connection, "2030-05-07 12:00Z")
        await connection.call("drop_old_partitions", 3)
        keys = await connection.fetch("select idempotency_key from leasehold.idempotency_keys")
        workers = await connection.fetch("select worker_id from leasehold.workers order by 1")
        commands = await connection.fetch("select date_part('day', created_at) from leasehold.worker_commands")
        assert [row[0] for row in commands] == [4]
        assert [row[0] for row in keys] == ["of 04"]
        assert [row[0] for row in workers] == ["silent 04", "stopped 04"]


async def test_the_audit_log_is_kept_longer_than_jobs(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        for day in ("2030-01-01", "2030-03-31", "2030-04-30"):
            await freeze(connection, f"{day} 12:00Z")
            await connection.call("write_audit", day, None, "act")
        await freeze(connection, "2030-05-07 12:00Z")
        await connection.call("drop_old_partitions", 3)
        assert [row["actor"] for row in await connection.call("list_audit")] == ["2030-04-30", "2030-03-31"]
        await freeze(connection, "2030-08-01 12:00Z")
        await connection.call("drop_old_partitions", 400)
        assert len(await connection.call("list_audit")) == 2


async def test_it_gives_way_to_an_open_transaction_and_comes_back_later(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await live_a_week(connection)
        await connection.call("drop_old_partitions", 30)
        async with open_transaction(fresh_database, "dump") as dump:
            await dump.fetch("select count(*) from leasehold.job_events")
            with trio.fail_after(5):
                assert await connection.call_value("drop_old_partitions", 3) == 3
        assert await connection.call_value("drop_old_partitions", 3) == 6


async def test_edges_stay_as_long_as_the_job_that_waited(fresh_database: Database) -> None:
    """Of a job that is open, or finished lately, all edges stay, however long ago its chains ended."""
    async with fresh_database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-05-01 12:00Z")
        await enqueue(connection, kind="part")
        for kind in ("early", "late", "open", "cancelled"):
            await enqueue_blocked(connection, [1], kind=kind)
        forever = await enqueue_blocked(connection, [5], kind="stuck")
        await complete_all(worker, "part")
        await complete_all(worker, "early")
        await connection.call("cancel_job", 5)
        await connection.call("cancel_job", forever)
        await freeze(connection, "2030-05-07 12:00Z")
        await complete_all(worker, "late")
        await connection.call("drop_old_partitions", 3)
        rows = await connection.fetch("select job_id from leasehold.job_blockers order by 1")
        assert [row[0] for row in rows] == [3, 4]


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
        await connection.call("drop_old_partitions", 3)
        left = [
            [row[0] for row in await connection.fetch(f"select {column} from leasehold.{table} order by 1")]
            for table, column in (("job_progress", "job_id"), ("job_logs", "job_id"), ("chain_waiters", "chain_id"))
        ]
    assert left == [[1, 3], [3], [3]]


async def test_unique_keys_are_forgotten_when_their_job_and_its_chain_are(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-05-01 12:00Z")
        await enqueue_unique(
            connection, *[{"kind": kind, "unique": {"scope": "chain"}} for kind in ("old", "chain", "open", "late")]
        )
        await worker.complete(await worker.claim(kinds=["old"]))
        await worker.continue_with(await worker.claim(kinds=["chain"]), [{"next": {"kind": "next"}}])
        await freeze(connection, "2030-05-06 12:00Z")
        await worker.complete(await worker.claim(kinds=["late"]))
        await freeze(connection, "2030-05-07 12:00Z")
        await connection.call("drop_old_partitions", 3)
        for table in ("unique_jobs", "unique_claims"):
            kept = await connection.fetch(f"select job_id from leasehold.{table} order by 1")
            assert [row[0] for row in kept] == [2, 3, 4], table


@pytest.mark.parametrize("days", [0, -1, None])
async def test_days_out_of_range_are_refused(database: Database, days: int | None) -> None:
    with pytest.raises(BadInput, match="keep_days must be 1 or more, not"):
        await database.call("drop_old_partitions", days)
