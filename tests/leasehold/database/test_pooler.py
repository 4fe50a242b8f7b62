from __future__ import annotations

from collections.abc import Generator

import pytest
import trio

from leasehold.app.registry import with_builtins
from leasehold.client import open_client
from leasehold.database import Database, open_database
from leasehold.database import connector as hearing
from leasehold.database.connector import Pooler
from leasehold.errors import ListenerDeaf, WrongAddress
from leasehold.jobs.new_job import NewJob
from tests.support.pgbouncer import pgbouncer
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


async def test_who_listens_through_a_pooler_is_told_that_it_is_deaf(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "HEARING_SECONDS", 0.2)
    async with open_database(pooled_url) as database:
        with pytest.raises(ListenerDeaf, match="direct connection"):
            async with database.listen("leasehold"):
                pytest.fail("it does not hear anything")


async def test_a_pooler_that_lends_whole_sessions_lets_notifications_through(database_url: str) -> None:
    with pgbouncer(database_url, "session") as dsn:
        async with open_database(dsn) as database, database.listen("leasehold") as listening:
            await database.fetch("select pg_notify('leasehold', 'hello')")
            with trio.fail_after(PATIENCE):
                assert await listening.payloads.receive() == "hello"


async def test_the_direct_connection_listens_and_the_pooled_one_works(pooled_url: str, database_url: str) -> None:
    async with (
        open_database(pooled_url, direct_dsn=database_url) as database,
        database.listen("leasehold") as listening,
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
