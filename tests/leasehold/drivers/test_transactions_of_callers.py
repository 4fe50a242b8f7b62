"""Jobs in transactions of callers, on every kind of connection that leasehold takes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from itertools import count

import psycopg
import trio

from benchmarks.connections import EXPECTED, Undone, look, rolled_back
from benchmarks.counting import counting
from benchmarks.owned import CONNECTIONS, TABLE, Owned
from benchmarks.server import connected
from leasehold import NewJob, open_client
from leasehold.database import open_asyncio_database
from leasehold.database.migrations import migrate
from leasehold.sync import Client as SyncClient
from tests.support.flavours import in_flavour, under_asyncio
from tests.support.folders import short_folder
from tests.support.servers import own_server
from tests.support.sql_worker import SqlWorker

Heard = Callable[[], list[str]]


@under_asyncio
async def test_a_job_exists_if_and_only_if_the_transaction_commits_and_costs_one_statement(
    fresh_database_url: str,
) -> None:
    async with connected(fresh_database_url) as eye:
        await eye.execute(TABLE)
        for name in CONNECTIONS:
            with counting(fresh_database_url) as counted:
                found = await look(name, counted, eye)
            assert (name, *found) == (name, EXPECTED, 1)
            await eye.execute("delete from leasehold.jobs")


@under_asyncio
async def test_workers_are_woken_by_the_commit_and_by_nothing_before(fresh_database_url: str) -> None:
    async with connected(fresh_database_url) as eye, open_asyncio_database(fresh_database_url) as database:
        await eye.execute(TABLE)
        worker = SqlWorker(database)
        await worker.register(queues=["nobody"])
        for name in CONNECTIONS:
            assert await worker.claim() == []
            async with CONNECTIONS[name](fresh_database_url) as owned:
                with listening(fresh_database_url) as heard:
                    await rolled_back(owned)
                    async with owned.transaction():
                        with suppress(Undone):
                            await undone_in_a_savepoint(owned)
                    assert heard() == []
                    async with owned.transaction():
                        await owned.enqueue(NewJob(kind="kept", queue="nobody"))
                        assert heard() == []
                    assert heard() == ["wake:nobody"], name
            await eye.execute("delete from leasehold.jobs")


def test_transactions_of_both_clients_can_be_prepared_where_a_worker_is_idle_if_they_are_to_wake_nobody(
    postgres_choice: str,
) -> None:
    jobs = [NewJob(kind="echo", queue="nobody"), NewJob(kind="echo", key="k", queue="nobody")]

    async def awaited(dsn: str) -> None:
        async with open_client(dsn) as client, connected(dsn) as connection:
            await connection.execute("begin")
            await client.enqueue(jobs[0], connection=connection, notify=False)
            await client.enqueue_many(jobs, connection=connection, notify=False)
            await connection.execute("prepare transaction 'ours'")

    async def blocking(dsn: str) -> None:
        with SyncClient() as client, psycopg.connect(dsn) as connection:
            client.enqueue(jobs[0], connection=connection, notify=False)
            client.enqueue_many(jobs, connection=connection, notify=False)
            connection.execute("prepare transaction 'ours'")
            connection.commit()

    async def quiet(dsn: str) -> None:
        async with open_client(dsn) as client, connected(dsn) as connection:
            await connection.execute("begin")
            await connection.execute("set local leasehold.notify = off")
            await client.enqueue(jobs[0], connection=connection)
            await client.enqueue_many(jobs, connection=connection)
            await connection.execute("select leasehold.wake()")
            await connection.execute("prepare transaction 'ours'")

    async def main(dsn: str) -> None:
        async with open_asyncio_database(dsn) as database:
            worker = SqlWorker(database)
            await worker.register(queues=["nobody"])
            for enqueue in (awaited, blocking, quiet):
                assert await worker.claim() == []
                await enqueue(dsn)
                assert await worker.claim() == []
                await database.fetch("commit prepared 'ours'")
                claimed = await worker.claim()
                assert len(claimed) == 3
                await worker.complete(claimed)

    choice = "embedded18" if "://" in postgres_choice else postgres_choice
    with short_folder() as folder, own_server(choice, folder, conf={"max_prepared_transactions": "2"}) as server:
        trio.run(migrate, server.dsn())
        in_flavour("asyncio", lambda: main(server.dsn()))


async def undone_in_a_savepoint(owned: Owned) -> None:
    async with owned.savepoint():
        await owned.enqueue(NewJob(kind="kept", queue="nobody"))
        raise Undone


@contextmanager
def listening(dsn: str) -> Generator[Heard]:
    """`heard()`: the notices since it was last called; one of our own marks the end, for they come in the order of the commits."""
    marks = count(1)
    with psycopg.connect(dsn, autocommit=True) as ear, psycopg.connect(dsn, autocommit=True) as mouth:
        ear.execute("listen leasehold")

        def heard() -> list[str]:
            mark = f"mark {next(marks)}"
            mouth.execute("select pg_notify('leasehold', %s)", (mark,))
            found: list[str] = []
            for notice in ear.notifies():
                if notice.payload == mark:
                    break
                found.append(notice.payload)
            return found

        yield heard
