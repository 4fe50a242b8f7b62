from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

from leasehold.database import Caller, Database, open_asyncio_database
from leasehold.errors import DatabaseUnavailable
from tests.conftest import Psql
from tests.support.flavours import in_flavour
from tests.support.pgbouncer import pgbouncer
from tests.support.waiting import PATIENCE

BACKEND = "select pg_backend_pid() as pid"


def under_asyncio(dsn: str, work: Callable[[Database], Awaitable[None]]) -> None:
    """Run `work` as a plain asyncio program would."""

    async def main() -> None:
        async with open_asyncio_database(dsn, pool_size=1, timeout=PATIENCE) as database:
            await work(database)

    in_flavour("asyncio", main)


def test_a_call_is_one_statement_and_only_scripts_and_transactions_are_cleaned_up_after(database_url: str) -> None:
    said: list[str] = []

    def note(record: Any) -> None:
        said.append(record.query)

    async def work(database: Database) -> None:
        async with database.pool.acquire() as connection:
            connection.add_query_logger(note)
        await database.call("count_jobs")
        assert ["RESET ALL" in each for each in said] == [True, False], "after the logger was added; not after the call"
        await database.execute("set application_name = 'other'")
        assert "RESET ALL" in said[-1]
        async with database.transaction() as transaction:
            await transaction.execute("set application_name = 'other'")
        rows = await database.fetch("show application_name")
        assert rows[0][0] != "other"

    under_asyncio(database_url, work)


def test_a_cancelled_query_leaves_a_usable_pool_and_lane(database_url: str) -> None:
    async def work(database: Database) -> None:
        reserved = database.reserve("lane")
        for caller in (database, reserved):
            running = asyncio.ensure_future(caller.fetch("select pg_sleep(30)"))
            done, _ = await asyncio.wait([running], timeout=0.05)
            assert not done
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert await caller.fetch("select 1")
        await reserved.close()
        await reserved.close()

    under_asyncio(database_url, work)


def test_connections_show_who_they_are(database_url: str) -> None:
    async def work(database: Database) -> None:
        reserved = database.reserve("settler")
        name = "select application_name from pg_stat_activity where pid = pg_backend_pid()"
        assert (await database.fetch(name))[0][0] == "leasehold"
        assert (await reserved.fetch(name))[0][0] == "leasehold settler"
        await reserved.close()

    under_asyncio(database_url, work)


def test_a_database_that_was_not_opened_says_so() -> None:
    with pytest.raises(RuntimeError, match="not open"):
        _ = Database("postgresql://", "leasehold", 1.0).pool


@pytest.mark.parametrize("how", ["a call", "a script", "a transaction", "a reserved connection"])
@pytest.mark.parametrize("way", ["direct", "session"])
def test_a_session_that_began_while_nothing_could_be_written_is_left_afterwards(
    fresh_database_url: str, psql: Psql, how: str, way: str
) -> None:
    """A pooler that lends sessions would lend it to the next one: so it is ended."""
    name = urlsplit(fresh_database_url).path.removeprefix("/")
    psql(fresh_database_url, f'alter database "{name}" set default_transaction_read_only = on')

    async def write(database: Database, reserved: Caller) -> None:
        if how == "a call":
            await database.call("enqueue_job", "echo")
        elif how == "a script":
            await database.execute("select leasehold.enqueue_job('echo'); select 1")
        elif how == "a transaction":
            async with database.transaction() as transaction:
                await transaction.call("enqueue_job", "echo")
        else:
            await reserved.call("enqueue_job", "echo")

    async def work(database: Database) -> None:
        reserved = database.reserve("dispatcher")
        with pytest.raises(DatabaseUnavailable, match="read-only"):
            await write(database, reserved)
        psql(
            fresh_database_url,
            f'begin read write; alter database "{name}" reset default_transaction_read_only; commit',
        )
        await write(database, reserved)
        assert await database.call_value("count_jobs") is not None
        await reserved.close()

    with ExitStack() as stack:
        url = stack.enter_context(pgbouncer(fresh_database_url, "session")) if way == "session" else fresh_database_url
        under_asyncio(url, work)


def sockets() -> set[str]:
    folder = "/proc/self/fd"
    found = {os.readlink(f"{folder}/{each}") for each in os.listdir(folder) if os.path.lexists(f"{folder}/{each}")}
    return {each for each in found if each.startswith("socket:")}


def left_in_a_copy(some: set[str]) -> int:
    """How many of these sockets a copy of this process has."""
    copy = os.fork()
    if copy == 0:
        os._exit(len(sockets() & some))
    return os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])


async def test_a_copy_of_the_process_has_no_connection_of_ours(database: Database) -> None:
    before = sockets()
    async with database.reserve("kept") as kept:
        assert await kept.fetch("select 1")
        ours = sockets() - before
        assert ours
        assert left_in_a_copy(ours) == 0
        assert await kept.fetch("select 1")
