from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import ExitStack
from typing import Any, cast

import pytest
import trio

from leasehold.app.registry import with_builtins
from leasehold.client import open_client
from leasehold.database import Database, open_database
from leasehold.database import connector as hearing
from leasehold.database.border import listen
from leasehold.database.connector import Connector, Pooler
from leasehold.errors import ListenerDeaf, WrongAddress
from leasehold.jobs.new_job import NewJob
from tests.support.flavours import under_asyncio
from tests.support.pgbouncer import PoolMode, pgbouncer
from tests.support.tracking_pooler import tracking_pooler
from tests.support.waiting import PATIENCE


@pytest.fixture
def pooled_url(database_url: str) -> Generator[str]:
    """Through two server connections, lent by the transaction."""
    with pgbouncer(database_url, pool_size=2) as dsn:
        yield dsn


async def test_without_a_pooler_none_is_found(database: Database) -> None:
    assert database.pooler is None
    await database.fetch("select 1")
    assert database.pooler is Pooler.NONE


async def test_a_pooler_that_forgets_prepared_statements_is_found(pooled_url: str) -> None:
    async with open_database(pooled_url) as database:
        await database.fetch("select 1")
        assert database.pooler is Pooler.BLIND


async def test_a_pooler_that_keeps_track_of_prepared_statements_gets_them_by_name(database_url: str) -> None:
    async with tracking_pooler(database_url) as dsn, open_database(dsn, pool_size=1) as database:
        for number in range(3):
            assert (await database.fetch("select $1::int as number", number))[0]["number"] == number
        assert database.pooler is Pooler.TRACKING
        kept = await database.fetch(
            "select name from pg_prepared_statements where statement = 'select $1::int as number'"
        )
        assert [row["name"].startswith("POOLER_") for row in kept] == [True]


async def test_a_parameter_that_the_pooler_does_not_know_is_wrong_for_ever(pooled_url: str) -> None:
    mark = "&" if "?" in pooled_url else "?"
    async with open_database(f"{pooled_url}{mark}no_such_parameter=1") as database:
        with pytest.raises(WrongAddress, match="no_such_parameter"):
            await database.fetch("select 1")


async def test_many_callers_share_two_server_connections_without_mixing_up_their_statements(pooled_url: str) -> None:
    async with open_database(pooled_url, pool_size=10) as database:

        async def ask(number: int) -> None:
            for each in range(20):
                # A text of its own for every statement, and types that have to be looked up first.
                text = f"select $1::int + {each} as sum, array[row($1, {number})]::record[] as rows"
                [row] = await database.fetch(text, number)
                assert row["sum"] == number + each

        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(ask, number)


@under_asyncio
async def test_a_connection_that_was_being_opened_when_the_pooler_was_found_suits_it_too(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector: Any = Connector(pooled_url, PATIENCE)
    opened, found = asyncio.Event(), asyncio.Event()
    open_one = connector._open

    async def open_late(name: str) -> Any:
        connection = await open_one(name)
        if name == "late" and not opened.is_set():
            opened.set()
            await found.wait()
        return connection

    monkeypatch.setattr(connector, "_open", open_late)
    late = asyncio.create_task(connector.connect("late"))
    await opened.wait()
    connections = [await connector.connect("early")]
    found.set()
    connections.append(await late)
    for each in connections:
        assert each._config.statement_cache_size == 0
        await each.close()


async def test_who_listens_through_a_pooler_is_told_that_it_is_deaf(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "HEARING_SECONDS", 0.2)
    async with open_database(pooled_url) as database:
        with pytest.raises(ListenerDeaf, match="direct connection"):
            async with listen(database, "leasehold"):
                pytest.fail("it does not hear anything")


async def test_a_pooler_that_lends_whole_sessions_lets_notifications_through(database_url: str) -> None:
    with pgbouncer(database_url, "session") as dsn:
        async with open_database(dsn) as database, listen(database, "leasehold") as listening:
            await database.fetch("select pg_notify('leasehold', 'hello')")
            with trio.fail_after(PATIENCE):
                assert await listening.payloads.receive() == "hello"


async def test_the_direct_connection_listens_and_the_pooled_one_works(pooled_url: str, database_url: str) -> None:
    async with (
        open_database(pooled_url, direct_dsn=database_url) as database,
        listen(database, "leasehold") as listening,
    ):
        await database.fetch("select pg_notify('leasehold', 'hello')")
        with trio.fail_after(PATIENCE):
            assert await listening.payloads.receive() == "hello"
        assert database.pooler is Pooler.BLIND


async def test_a_client_enqueues_and_waits_through_a_pooler(pooled_url: str) -> None:
    async with open_client(pooled_url, app=with_builtins(None)) as client:
        await client.enqueue_many([NewJob(kind="echo", args={"text": str(number)}) for number in range(5)])
        assert sum(counts.jobs for counts in await client.metrics.counts()) == 5
        async with client.transaction() as transaction:
            await transaction.call_value("enqueue_job", "echo")
        assert sum(counts.jobs for counts in await client.metrics.counts()) == 6


LITTER = """
set work_mem = '77MB'; set application_name = 'litter'; set timezone = 'Asia/Tokyo'; create temp table litter (n int);
select pg_advisory_lock(7); listen litter; prepare litter as select 1; declare litter cursor with hold for select 1;
set role pg_monitor
"""
LEFT = """
select current_setting('work_mem') = '77MB' as setting, current_setting('timezone') = 'Asia/Tokyo' as zone,
       current_setting('application_name') as name, current_user = 'pg_monitor' as role,
       to_regclass('pg_temp.litter') is not null as temporary,
       exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as lock,
       exists (select from pg_listening_channels() l where l = 'litter') as listens,
       exists (select from pg_prepared_statements where name = 'litter') as prepared,
       exists (select from pg_cursors where name = 'litter') as cursor
"""
CLEAN = dict.fromkeys(("setting", "zone", "role", "temporary", "lock", "listens", "prepared", "cursor"), False)


@pytest.mark.parametrize("way", ["direct", "session", "transaction"])
async def test_what_sql_leaves_in_a_session_does_not_reach_the_next_user(fresh_database_url: str, way: str) -> None:
    with ExitStack() as stack:
        through = fresh_database_url
        if way != "direct":
            through = stack.enter_context(pgbouncer(fresh_database_url, cast("PoolMode", way), pool_size=1))
        async with open_database(through, pool_size=1, application_name="the worker") as database:
            await database.fetch("select $1::int", 1)
            for _ in range(2):
                async with database.transaction() as transaction:
                    for statement in LITTER.split(";"):
                        await transaction.execute(statement)
                [left] = await database.fetch(LEFT)
                assert dict(left) == {**CLEAN, "name": "the worker"}
            assert (await database.fetch("select $1::int", 1))[0][0] == 1
            kept = await database.fetch("select from pg_prepared_statements where statement = 'select $1::int'")
            assert len(kept) == (1 if way == "direct" else 0), (
                "asyncpg keeps those that it prepared, where it may prepare any"
            )
