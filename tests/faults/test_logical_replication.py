"""A second server that subscribes to everything, as Debezium and blue/green upgrades do."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import ExitStack, suppress

import pytest
import trio

from leasehold.database import Database, ReservedConnection, open_database
from leasehold.database.migrations import migrate
from tests.support.fleet import Fleet, open_fleet
from tests.support.folders import short_folder
from tests.support.processes import StartProcess
from tests.support.servers import OwnServer, own_server, psql_on
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.acceptance

PUBLISHER = {"wal_level": "logical"}
SUBSCRIBE = "create subscription everything connection '{dsn}' publication everything"
LONG_AGO = "2001-05-05 12:00Z"
PUBLISHED = "select tablename::text from pg_publication_tables where pubname = 'everything' order by 1"
WRITTEN_BESIDE_JOBS = {"chain_waiters"}  # unlogged: it holds nothing that a second server could use


@pytest.fixture
def servers(postgres_choice: str) -> Generator[tuple[OwnServer, OwnServer]]:
    """One that publishes, and one that will subscribe."""
    choice = "embedded18" if "://" in postgres_choice else postgres_choice
    with ExitStack() as stack:
        folders = [stack.enter_context(short_folder(fast=True)) for _ in range(2)]
        yield (
            stack.enter_context(own_server(choice, folders[0], conf=PUBLISHER)),
            stack.enter_context(own_server(choice, folders[1])),
        )


def copy_schema(publisher: OwnServer, subscriber: OwnServer) -> None:
    """As people do it before they subscribe: the tables without their rows."""
    program = publisher.psql.removesuffix("psql") + "pg_dump"
    dump = subprocess.run(
        [program, "--schema-only", "--no-publications", publisher.dsn()],
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    ).stdout
    psql_on(subscriber.psql, subscriber.dsn(), dump)


async def checksums(database: Database, tables: list[str]) -> dict[str, str]:
    """What each table holds, in one value."""
    found: dict[str, str] = {}
    for table in tables:
        [row] = await database.fetch(
            f"select count(*) || ' ' || coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '') from leasehold.{table} t"
        )
        found[table] = row[0]
    return found


async def live_long_ago(caller: ReservedConnection) -> None:
    """A day with finished, failed and logged jobs, whose partitions are dropped by today's retention."""
    await freeze(caller, LONG_AGO)
    await caller.call("ensure_partitions", 0)
    await enqueue_many(caller, [{"kind": "old", "max_attempts": 1}] * 20)
    worker = SqlWorker(caller)
    held = await worker.claim(20)
    assert await worker.complete(held[:10]) == {}
    await worker.fail(held[10:])
    await caller.fetch("set leasehold.frozen_clock = ''")


async def use_everything(fleet: Fleet) -> None:
    """Jobs are enqueued, run, fail, are retried, edited and cancelled, while the books are kept and old days are dropped."""
    client, database = fleet.client, fleet.database
    for turn in range(4):
        done = [await client.enqueue("quick", key=f"k{n % 5}") for n in range(30)]
        failing = [await client.enqueue("hold", {"seconds": -1}, max_attempts=1) for _ in range(5)]
        later = await client.enqueue("quick", delay=1000)
        for job in [*done, *failing]:
            await fleet.job(job, "completed", "failed")
        await client.retry(failing[0])
        await client.jobs.edit(later, priority=turn)
        await client.cancel(later)
        await fleet.job(failing[0], "failed")
        for function in ("close_minutes", "measure_depths"):
            await database.call(function)
        for function in ("drop_old_partitions", "drop_old_rows", "drop_old_ticks", "drop_old_rollups"):
            await database.call(function, 30)


async def test_a_second_server_that_subscribes_to_all_tables_gets_every_row(
    servers: tuple[OwnServer, OwnServer], start_process: StartProcess
) -> None:
    publisher, subscriber = servers
    await migrate(publisher.dsn())
    copy_schema(publisher, subscriber)
    async with open_fleet(publisher.dsn(), start_process) as fleet, open_database(subscriber.dsn()) as copy:
        database = fleet.database
        async with database.reserve("long ago") as connection:
            await live_long_ago(connection)
        await database.fetch("create publication everything for all tables with (publish_via_partition_root = true)")
        await copy.fetch(SUBSCRIBE.format(dsn=publisher.dsn()))
        assert await fleet.value("select count(*) from leasehold.finished_jobs_20010505") == 20
        fleet.run("reaper", "scheduler")
        worker = await fleet.worker("publishing")
        await use_everything(fleet)
        assert await fleet.value("select to_regclass('leasehold.finished_jobs_20010505') is null")
        await trio.to_thread.run_sync(worker.terminate)

        published = [row[0] for row in await database.fetch(PUBLISHED)]
        tables = [
            row[0]
            for row in await database.fetch(
                "select relname::text from pg_class where relnamespace = 'leasehold'::regnamespace "
                "and relkind in ('r', 'p') and not relispartition order by 1"
            )
        ]
        assert set(tables) - set(published) == WRITTEN_BESIDE_JOBS
        # Days are dropped on each server for itself.
        await eventually(lambda: has_all_jobs(copy, 4 * 35))
        for function in ("drop_old_partitions", "drop_old_rows"):
            while await copy.call_value(function, 30):
                pass

        async def is_equal() -> bool:
            here, there = await checksums(database, published), await checksums(copy, published)
            differing[:] = [
                f"{table}: {here[table]} and {there[table]}" for table in published if here[table] != there[table]
            ]
            return not differing

        differing: list[str] = []
        with suppress(AssertionError):
            await eventually(is_equal)
        assert differing == []
    for server in servers:
        # A process that is told to end cancels what it asks just then.
        wrong = [line for line in server.log.splitlines() if "ERROR:" in line and "due to user request" not in line]
        assert wrong == []


async def has_all_jobs(copy: Database, count: int) -> bool:
    """Whether so many jobs of today have arrived."""
    [row] = await copy.fetch("select count(*) from leasehold.finished_jobs where finished_at > '2002-01-01'")
    return row[0] >= count
