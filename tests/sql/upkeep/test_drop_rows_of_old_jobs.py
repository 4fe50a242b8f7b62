from __future__ import annotations

from datetime import timedelta

import trio

from leasehold.database import Database
from tests.support.sql_chains import complete_all, enqueue_blocked
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_unique import enqueue_unique
from tests.support.sql_upkeep import forget, forget_rows_of_jobs
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


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
        await forget(connection, 3)
        rows = await connection.fetch("select job_id from leasehold.job_blockers order by 1")
        assert [row[0] for row in rows] == [3, 4]


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
        await forget(connection, 3)
        for table in ("unique_jobs", "unique_claims"):
            kept = await connection.fetch(f"select job_id from leasehold.{table} order by 1")
            assert [row[0] for row in kept] == [2, 3, 4], table


async def test_idempotency_keys_go_with_their_jobs(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        for day in ("03", "04"):
            await freeze(connection, f"2030-05-{day} 12:00Z")
            await worker.complete(await worker.given(idempotency_key=f"of {day}"))
        await freeze(connection, "2030-05-07 12:00Z")
        await forget(connection, 3)
        keys = await connection.fetch("select idempotency_key from leasehold.idempotency_keys")
        assert [row[0] for row in keys] == ["of 04"]


async def test_the_idempotency_key_of_a_job_that_is_still_there_is_remembered_however_old_it_is(
    fresh_database: Database,
) -> None:
    """While it is scheduled, and then for as long as the finished job is kept."""
    async with fresh_database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-05-01 12:00Z")
        await enqueue(connection, idempotency_key="k", delay=timedelta(days=20))
        for day in ("20", "21", "23"):
            await freeze(connection, f"2030-05-{day} 13:00Z")
            await forget(connection, 3)
            assert await enqueue(connection, idempotency_key="k") == 1
            await connection.call("make_jobs_due")
            await worker.complete(await worker.claim())
        assert await states(connection) == {1: "completed"}
        await freeze(connection, "2030-05-25 13:00Z")
        await forget(connection, 3)
        assert await enqueue(connection, idempotency_key="k") > 1


async def test_it_goes_on_behind_what_it_looked_at(fresh_database: Database) -> None:
    """Rows that stay, at the front, hide none of those behind them."""
    async with fresh_database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await freeze(connection, "2030-05-01 12:00Z")
        for n in range(10):
            await enqueue(connection, kind="stays" if n < 4 else "goes", idempotency_key=f"{n}")
        await worker.complete(await worker.claim(kinds=["goes"]))
        await freeze(connection, "2030-05-07 12:00Z")
        assert await connection.call_value("drop_old_partitions", 3) == 3 * 8
        await connection.call("drop_old_rows", 3)
        assert await forget_rows_of_jobs(connection, 3, batch=3) == [0, 2, 3, 1]
        left = await connection.fetch("select idempotency_key from leasehold.idempotency_keys order by 1")
        assert [row[0] for row in left] == ["0", "1", "2", "3"]


async def test_jobs_of_later_days_are_not_looked_at(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2030-05-04 00:00:01Z")
        for n in range(5):
            await enqueue(connection, idempotency_key=f"{n}")
        await connection.call("ensure_partitions", 0)
        for n in range(5, 10):
            await enqueue(connection, idempotency_key=f"{n}")
        await connection.execute(
            "delete from leasehold.jobs; update leasehold.idempotency_keys set created_at = '2030-05-01'"
        )
        await freeze(connection, "2030-05-07 12:00Z")
        await forget(connection, 3)
        left = await connection.fetch("select idempotency_key from leasehold.idempotency_keys order by 1")
        assert [row[0] for row in left] == ["5", "6", "7", "8", "9"]


async def test_what_somebody_uses_is_left_for_the_next_call(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2030-05-01 12:00Z")
        unique = [{"kind": "a", "unique": {"key": key}, "idempotency_key": key} for key in "kl"]
        await enqueue_unique(connection, *unique)
        await complete_all(SqlWorker(connection), "a")
        await freeze(connection, "2030-05-07 12:00Z")
        async with open_transaction(fresh_database, "user") as user:
            await user.fetch("select from leasehold.unique_jobs where unique_key like '%k' for update")
            await user.fetch("select from leasehold.idempotency_keys where idempotency_key = 'k' for update")
            with trio.fail_after(PATIENCE):
                await forget(connection, 3)
            for table in ("unique_jobs", "unique_claims", "idempotency_keys"):
                assert len(await connection.fetch(f"select from leasehold.{table}")) == 1, table
        await forget(connection, 3)
        for table in ("unique_jobs", "unique_claims", "idempotency_keys"):
            assert await connection.fetch(f"select from leasehold.{table}") == [], table
