from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
import trio

from leasehold.checks import health
from leasehold.checks.health import (
    HOLDERS,
    READERS_WAIT,
    check_autovacuum,
    check_bloat,
    check_disk,
    check_durability,
    check_epochs,
    check_horizon,
    check_locks,
    judge_pins,
)
from leasehold.checks.verdicts import Check
from leasehold.database import Database, open_database
from leasehold.database.cluster import Cluster
from leasehold.database.migrations import migrate
from leasehold.database.waits import WAITS
from tests.support.epochs import begin_epoch, fail_over
from tests.support.folders import short_folder
from tests.support.servers import programs_of
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import until_waiting
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

CONF = {"max_prepared_transactions": "2", "wal_level": "logical", "fsync": "on", "full_page_writes": "on"}
OF_THE_MONTH = "select pg_backend_pid() as pid, count(*) from leasehold.jobs"


@pytest.fixture(scope="module")
def server_url(postgres_choice: str) -> Generator[str]:
    """A server that allows for what servers of tests do not."""
    choice = "embedded18" if "://" in postgres_choice else postgres_choice
    with short_folder() as folder:
        cluster = Cluster(folder, programs_of(choice), conf=CONF, sync=False)
        cluster.start()
        trio.run(migrate, cluster.dsn())
        yield cluster.dsn()
        cluster.stop("immediate")


async def test_the_session_that_keeps_vacuum_from_its_work_is_named(database: Database, database_url: str) -> None:
    async with open_database(database_url, application_name="the reports") as other, other.transaction() as idle:
        await idle.fetch("set transaction isolation level repeatable read")
        [row] = await idle.fetch(OF_THE_MONTH)
        check = await check_horizon(database, longest=0.0)
        assert check.verdict == "problem"
        assert f"session {row['pid']} (the reports, role postgres, idle in transaction)" in check.detail
        assert f"last query: {OF_THE_MONTH}" in check.detail
        assert f"pg_terminate_backend({row['pid']})" in (check.advice or "")
        assert (await check_horizon(database)).detail == "no transaction is older than 5m"
    assert (await check_horizon(database, longest=0.0)).verdict == "ok"


async def test_a_transaction_is_old_at_once_where_dead_jobs_pile_up(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "MOST_DEAD", 20)
    monkeypatch.setattr(health, "HARMFUL_SECONDS", 0.0)
    async with open_database(database_url, application_name="the backup") as other, other.transaction() as idle:
        await idle.fetch("set transaction isolation level repeatable read")
        await idle.fetch(OF_THE_MONTH)
        assert (await check_horizon(database)).verdict == "ok"
        await database.execute(
            "select leasehold.enqueue_job('echo') from generate_series(1, 50);"
            "delete from leasehold.jobs; select pg_stat_force_next_flush()"
        )
        check = await check_horizon(database)
    assert (check.verdict, "(the backup, role postgres" in check.detail) == ("problem", True)


async def test_a_transaction_over_whose_dead_jobs_claims_pass_is_named_at_once(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "MARKED_SECONDS", 0.0)
    async with open_database(database_url, application_name="the backup") as other, other.transaction() as idle:
        await idle.fetch("set transaction isolation level repeatable read")
        await idle.fetch(OF_THE_MONTH)
        await database.execute(
            "insert into leasehold.lane_marks values ('default', 'echo', 0, 0, now(), 1, now());"
            "select pg_stat_force_next_flush()"
        )
        check = await check_horizon(database)
    assert (check.verdict, "(the backup, role postgres" in check.detail) == ("problem", True)


async def test_a_transaction_that_was_prepared_and_forgotten_is_named(server_url: str) -> None:
    async with open_database(server_url) as database:
        await database.execute("begin; select leasehold.enqueue_job('echo'); prepare transaction 'forgotten'")
        check = await check_horizon(database, longest=0.0)
        await database.execute("rollback prepared 'forgotten'")
    assert "prepared transaction 'forgotten' (role postgres)" in check.detail
    assert check.advice == "ROLLBACK PREPARED 'forgotten', or COMMIT PREPARED 'forgotten' if that was decided"


async def test_a_prepared_transaction_is_named_with_its_gid_wherever_it_is_in_the_way(server_url: str) -> None:
    gid = "'it''s mine'"
    async with open_database(server_url, timeout=PATIENCE) as database, database.reserve("mover") as mover:
        await enqueue(database)
        worker = SqlWorker(database)
        await worker.claim()
        await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '1 hour'")
        await database.execute(f"begin; select from leasehold.jobs for update; prepare transaction {gid}")
        [stuck] = await database.call("stop_lost_sessions")
        [row] = await mover.fetch("select pg_backend_pid() as pid")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(mover.execute, "begin; lock table leasehold.jobs in access exclusive mode")
            await until_waiting(database, "mover")
            [waits] = await database.fetch(WAITS, row["pid"], 0.0)
            await database.execute(f"rollback prepared {gid}")
        await mover.execute(f"prepare transaction {gid}")
        [holder] = await database.fetch(HOLDERS, READERS_WAIT)
        await database.execute(f"rollback prepared {gid}")
    assert f"ROLLBACK PREPARED {gid}, or COMMIT PREPARED {gid}" in stuck["problem"]
    assert waits["who"] == f"a prepared transaction (ROLLBACK PREPARED {gid})"
    assert (holder["holder"], holder["cure"]) == (
        f"prepared transaction {gid} holds leasehold.jobs locked",
        f"ROLLBACK PREPARED {gid}",
    )


@pytest.mark.parametrize(
    ("lock", "what"),
    [
        ("alter sequence leasehold.jobs_id_seq no cycle", "leasehold.jobs_id_seq"),
        ("lock table leasehold.jobs in share mode", "leasehold.jobs"),
    ],
)
async def test_who_keeps_writers_waiting_is_named_though_readers_pass(
    database: Database, database_url: str, lock: str, what: str
) -> None:
    async with open_database(database_url, application_name="the hand") as other, other.transaction() as holder:
        await holder.execute(lock)
        [row] = await holder.fetch("select pg_backend_pid() as pid")
        check = await check_locks(database, longest=0.0)
        assert (await check_locks(database, longest=1e9)).verdict == "ok"
    who = f"session {row['pid']} (the hand, role postgres, idle in transaction) holds {what} locked"
    assert (check.verdict, check.detail.startswith(who)) == ("problem", True)
    assert check.advice == f"select pg_terminate_backend({row['pid']})"


async def test_who_waits_for_a_row_is_not_named_as_one_that_keeps_others_waiting(
    database: Database, database_url: str
) -> None:
    job_id = await enqueue(database)
    row = "select from leasehold.jobs where id = $1 for update"
    async with (
        open_database(database_url, application_name="holder") as other,
        other.transaction() as holder,
        trio.open_nursery() as nursery,
        database.reserve("waits") as waiter,
    ):
        await holder.fetch(row, job_id)
        nursery.start_soon(waiter.fetch, row, job_id)
        await until_waiting(database, "waits")
        assert (await check_locks(database, longest=0.0)).verdict == "ok"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("kind", "name", "id_", "cure"),
    [
        (
            "slot",
            "replication slot old_copy (inactive)",
            "old_copy",
            "select pg_drop_replication_slot('old_copy'), if nobody",
        ),
        ("standby", "standby reports", "77", "end the long query there, or turn hot_standby_feedback off"),
    ],
)
def test_a_slot_and_a_standby_are_named_at_once_for_they_tell_no_time(
    kind: str, name: str, id_: str, cure: str
) -> None:
    pin = {"kind": kind, "name": name, "seconds": None, "transactions": 5_000, "query": None, "id": id_}
    young = {**pin, "kind": "session", "seconds": 3.0, "transactions": 2}
    check = judge_pins([pin, young], 300.0)
    assert (check.verdict, (check.advice or "").startswith(cure)) == ("problem", True)
    assert check.detail == f"vacuum removes nothing younger than {name}, 5000 transactions back"


async def test_a_slot_that_keeps_no_rows_is_no_finding(server_url: str) -> None:
    async with open_database(server_url) as database:
        await database.fetch("select pg_create_physical_replication_slot('copy', true)")
        check = await check_horizon(database, longest=0.0)
        await database.fetch("select pg_drop_replication_slot('copy')")
    assert check.verdict == "ok"


async def test_a_role_that_does_not_see_others_is_told_what_to_ask_for(database: Database) -> None:
    async with database.transaction() as session:
        await session.execute("create role blinkered")
        await session.execute("set local role blinkered")
        check = await check_horizon(session)
        await session.execute("reset role; drop role blinkered")
    assert (check.verdict, "grant pg_read_all_stats" in (check.advice or "")) == ("advice", True)


async def test_a_server_that_keeps_no_promise_is_a_problem(postgres_choice: str, database: Database) -> None:
    if "://" in postgres_choice:
        pytest.skip("somebody else's server is asked for, and it is as it is")
    check = await check_durability(database)
    assert (check.verdict, check.detail.partition(":")[0]) == ("problem", "fsync and full_page_writes off")


async def test_commits_that_do_not_wait_for_the_disk_are_a_problem(server_url: str) -> None:
    async def check_with(setting: str) -> Check:
        async with open_database(server_url, pool_size=1) as database, database.transaction() as session:
            await session.execute(f"set local synchronous_commit = {setting}")
            return await check_durability(session)

    assert (await check_with("on")).verdict == "ok"
    assert (await check_with("off")).verdict == "problem"


async def test_a_table_that_autovacuum_leaves_out_is_named(database: Database) -> None:
    assert (await check_autovacuum(database)).verdict == "ok"
    await database.execute("alter table leasehold.jobs set (autovacuum_enabled = off)")
    check = await check_autovacuum(database)
    assert (check.verdict, check.detail) == ("problem", "is off for jobs, which only ever grow")


async def test_an_autovacuum_that_is_off_or_slow_is_told(server_url: str) -> None:
    async def check_with(setting: str) -> Check:
        async with open_database(server_url, pool_size=1) as database:
            await database.execute(f"alter system set {setting}")
            await database.execute("select pg_reload_conf()")
            async with open_database(server_url, pool_size=1) as fresh:
                check = await check_autovacuum(fresh)
            await database.execute("alter system reset all")
            await database.execute("select pg_reload_conf()")
            return check

    assert (await check_with("autovacuum_naptime = '1min'")).verdict == "advice"
    assert (await check_with("autovacuum = off")).verdict == "problem"


async def test_dead_rows_that_outnumber_the_living_are_told(database: Database) -> None:
    await database.execute("alter table leasehold.queues set (autovacuum_enabled = off)")
    assert (await check_bloat(database, most=20)).verdict == "ok"
    await database.execute(
        "insert into leasehold.queues select 'q' || i from generate_series(1, 50) i;"
        "delete from leasehold.queues; select pg_stat_force_next_flush()"
    )
    check = await check_bloat(database, most=20)
    assert check.verdict == "problem"
    assert "50 dead rows and 0 live ones in queues, never vacuumed" in check.detail


def test_a_disk_that_fills_up_is_a_problem(tmp_path: Path) -> None:
    assert check_disk(tmp_path, least_share=0, least_bytes=0).verdict == "ok"
    assert check_disk(tmp_path, least_share=1.0).verdict == "problem"


async def test_without_a_failover_all_is_well(database: Database) -> None:
    assert (await check_epochs(database)).verdict == "ok"
    await begin_epoch(database)
    assert (await check_epochs(database)).detail == "no failover and no restore within a day"


async def test_jobs_that_workers_held_and_the_database_does_not_know_are_a_problem_and_named(
    database: Database,
) -> None:
    await begin_epoch(database)
    await database.call("enqueue_job", "echo")
    await fail_over(database)
    epoch = await begin_epoch(database)
    check = await check_epochs(database)
    assert (check.verdict, "what was acknowledged last may be lost" in check.detail) == ("advice", True)
    await database.call("report_losses", epoch, [7, 9])
    check = await check_epochs(database)
    assert check.verdict == "problem"
    assert "workers held 2 jobs that it does not know: 7, 9; ids from 2 to 9 at the least were lost" in check.detail


async def test_a_day_later_it_is_no_news(database: Database) -> None:
    await begin_epoch(database)
    await fail_over(database)
    await begin_epoch(database)
    await database.execute("update leasehold.epochs set began_at = began_at - interval '2 days'")
    assert (await check_epochs(database)).verdict == "ok"
