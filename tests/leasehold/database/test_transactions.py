from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import asyncpg
import pytest
import trio

from leasehold.database import Database, open_asyncio_database, open_database
from leasehold.database.transactions import release
from leasehold.errors import BadInput, QueryRefused, TransactionEnded
from tests.support.flavours import in_flavour
from tests.support.waiting import eventually

DRIVER: Any = asyncpg
TABLE = "create table public.rows (n int)"
INSERT = "insert into public.rows values (1)"


def with_both(url: str, flavour: str, work: Callable[[Any], Awaitable[None]]) -> None:
    """Run `work` with a database of one connection, in which there is a table."""

    async def main() -> None:
        opening: Any = open_database if flavour == "trio" else open_asyncio_database
        async with opening(url, pool_size=1) as database:
            await database.execute(TABLE)
            await work(database)

    in_flavour(flavour, main)


async def transact(database: Any, work: Callable[[Any], Awaitable[object]]) -> None:
    async with database.transaction() as tx:
        await work(tx)


async def count(database: Database) -> int:
    return (await database.fetch("select count(*) from public.rows"))[0][0]


def ours(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What we logged; asyncio may have said something of its own."""
    return [each.message for each in caplog.records if each.name.startswith("leasehold")]


@pytest.mark.parametrize("flavour", ["trio", "asyncio"])
def test_sql_that_ends_the_transaction_is_noticed_at_once_and_nothing_comes_after_it(
    database_url: str, flavour: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def end_with(sql: str, database: Any, *, swallows: bool) -> str:
        async def end(tx: Any) -> None:
            await tx.execute(INSERT)
            with suppress(*[TransactionEnded] if swallows else []):
                await tx.execute(sql)
            with pytest.raises(TransactionEnded):
                await tx.execute(INSERT)
            with pytest.raises(TransactionEnded):
                await tx.fetch("select 1")

        with pytest.raises(TransactionEnded) as caught:
            await transact(database, end)
        await transact(database, lambda tx: tx.fetch("select 1"))
        return str(caught.value)

    async def work(database: Any) -> None:
        told = await end_with("-- a script\nselect 1;\nrollback", database, swallows=False)
        assert told.endswith("The statement: -- a script select 1; rollback")
        assert "what a COMMIT wrote stays" in told
        await end_with("rollback; select 1/0", database, swallows=True)
        assert await count(database) == 0
        await end_with("commit", database, swallows=True)
        assert await count(database) == 1

    with_both(database_url, flavour, work)
    assert ours(caplog) == []


def test_what_ends_it_over_the_connection_itself_is_noticed_at_its_end(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(database: Database) -> None:
        async def commit_and_raise(tx: Any) -> None:
            await tx.connection.execute(f"{INSERT}; commit")
            raise ZeroDivisionError

        with pytest.raises(TransactionEnded):
            await transact(database, lambda tx: tx.connection.execute("commit"))
        with pytest.raises(ZeroDivisionError):
            await transact(database, commit_and_raise)
        assert await count(database) == 1

    with_both(database_url, "asyncio", work)
    [message] = ours(caplog)
    assert "has ended it" in message


@pytest.mark.parametrize("script", ["rollback; begin", "commit; start transaction"])
async def test_the_last_call_notices_that_another_transaction_was_begun(database: Database, script: str) -> None:
    async def begin_another(tx: Any) -> None:
        await tx.execute(script)
        await tx.call_last("enqueue_job", "echo")

    with pytest.raises(TransactionEnded):
        await transact(database, begin_another)
    assert await database.call("list_jobs") == []


async def test_savepoints_do_not_end_it(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute("savepoint x; select 1; rollback to x; release x")
        assert await tx.call_last("enqueue_job", "echo") == 1
    assert len(await database.call("list_jobs")) == 1


@pytest.mark.parametrize("flavour", ["trio", "asyncio"])
def test_a_failed_statement_that_nobody_minded_is_no_commit(database_url: str, flavour: str) -> None:
    told: list[str] = []

    async def fail_and_go_on(tx: Any) -> None:
        await tx.execute(INSERT)
        tx.hooks.after_commit(lambda: told.append("committed"))
        with suppress(QueryRefused):
            await tx.execute("select * from public.nowhere")

    async def work(database: Any) -> None:
        with pytest.raises(QueryRefused, match="aborted"):
            await transact(database, fail_and_go_on)
        assert (await count(database), told) == (0, [])
        async with database.transaction() as tx:
            await tx.execute(INSERT)
            with suppress(QueryRefused):
                async with tx.savepoint():
                    await tx.execute("select * from public.nowhere")
        assert await count(database) == 1

    with_both(database_url, flavour, work)


def test_temporary_tables_go_with_the_transaction_that_made_them(database_url: str) -> None:
    async def work(database: Database) -> None:
        for _ in range(2):
            async with database.transaction() as tx:
                await tx.execute("create temp table scratch as select 1 as n")
                assert await tx.fetch("select n from scratch") == [(1,)]
            await database.execute("create temp table scratch (n int)")

    with_both(database_url, "asyncio", work)


@pytest.mark.parametrize("flavour", ["trio", "asyncio"])
def test_two_statements_at_once_are_a_mistake_and_no_outage(database_url: str, flavour: str) -> None:
    async def at_once(tx: Any) -> None:
        await tx.execute(INSERT)
        long = "select pg_sleep(30)"
        if flavour == "asyncio":
            await asyncio.gather(tx.execute(long), tx.execute(long))
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tx.execute, long)
            nursery.start_soon(tx.execute, long)

    async def work(database: Any) -> None:
        with pytest.raises((BadInput, ExceptionGroup)) as caught:
            await transact(database, at_once)
        error = caught.value.exceptions[0] if isinstance(caught.value, ExceptionGroup) else caught.value
        assert isinstance(error, BadInput)
        assert "one statement at a time" in str(error)
        assert await count(database) == 0
        for use in (database.fetch, partial(fetch_within, database)):
            with pytest.raises(BadInput, match="2 were passed"):
                await use("select $1::int", 1, 2)

    with_both(database_url, flavour, work)


async def fetch_within(database: Any, sql: str, *args: object) -> None:
    await transact(database, lambda tx: tx.fetch(sql, *args))


@pytest.fixture
def complaints(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING)
    return caplog


async def is_nothing_open(database: Database) -> bool:
    rows = await database.fetch(
        "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null "
        "and backend_type = 'client backend'"
    )
    return not rows


@pytest.mark.parametrize("statement", ["select 1", "select pg_sleep(600)"])
async def test_a_transaction_that_is_cancelled_anywhere_is_undone_in_silence(
    database: Database, complaints: pytest.LogCaptureFixture, statement: str
) -> None:
    for n in range(60):
        await database.fetch("select 1")  # there is a connection to take
        with trio.move_on_after(n * 0.0002):
            async with database.transaction() as transaction:
                await transaction.fetch(statement)
    assert complaints.text == ""
    await eventually(lambda: is_nothing_open(database))


@pytest.mark.parametrize("how", ["a transaction", "a call", "a reserved connection"])
async def test_a_request_to_cancel_that_overtakes_its_statement_is_repeated(
    database: Database, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    requests: list[Any] = []
    request = DRIVER.connect_utils._cancel

    async def ignored_at_first(**about: Any) -> None:
        requests.append(about)
        if len(requests) > 1:
            await request(**about)

    monkeypatch.setattr(DRIVER.connect_utils, "_cancel", ignored_at_first)
    async with trio.open_nursery() as nursery:

        async def sleep() -> None:
            if how == "a transaction":
                await fetch_within(database, "select pg_sleep(600)")
            elif how == "a reserved connection":
                async with database.reserve("kept") as kept:
                    await kept.fetch("select pg_sleep(600)")
            else:
                await database.fetch("select pg_sleep(600)")

        nursery.start_soon(sleep)
        await eventually(lambda: is_asleep(database))
        nursery.cancel_scope.cancel()
    await eventually(lambda: is_nothing_open(database))
    assert len(requests) == 2


async def is_asleep(database: Database) -> bool:
    return bool(
        await database.fetch(
            "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"
        )
    )


def test_trouble_of_a_release_that_is_cancelled_reaches_nobody(database_url: str) -> None:
    assert asyncio.run(complaints_of_a_cancelled_release(database_url)) == []


async def complaints_of_a_cancelled_release(database_url: str) -> list[dict[str, Any]]:
    """What the loop has to say after a release was cancelled, and the reset behind it then ran out of time."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    is_resetting, may_end = asyncio.Event(), asyncio.Event()

    async def reset(_connection: object) -> None:
        is_resetting.set()
        await may_end.wait()
        raise TimeoutError

    async with DRIVER.create_pool(database_url, min_size=0, max_size=1, reset=reset) as pool:
        releasing = asyncio.ensure_future(release(pool, await pool.acquire()))
        await is_resetting.wait()
        releasing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await releasing
        may_end.set()
    return complaints
