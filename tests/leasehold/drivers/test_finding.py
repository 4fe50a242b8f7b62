"""What is taken as a connection, and how each is refused that cannot be."""

from __future__ import annotations

from typing import Any, cast

import asyncpg
import psycopg
import psycopg_pool
import pytest
import sqlalchemy
from psycopg.rows import namedtuple_row
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from leasehold import Client, open_client
from leasehold.database import Database
from leasehold.errors import BadInput, NoTransaction
from leasehold.sync import Client as SyncClient
from tests.support.flavours import in_flavour, under_asyncio

SQLITE = "sqlite+pysqlite:///:memory:"


def url(dsn: str, driver: str) -> sqlalchemy.URL:
    return sqlalchemy.make_url(dsn).set(drivername=f"postgresql+{driver}")


def jobs(dsn: str) -> int:
    with psycopg.connect(dsn) as eye:
        row = eye.execute("select count(*)::int from leasehold.jobs").fetchone()
    assert row is not None
    return row[0]


def test_a_connection_that_commits_each_statement_by_itself_is_refused(database_url: str) -> None:
    client = SyncClient()
    with psycopg.connect(database_url, autocommit=True) as connection:
        with pytest.raises(NoTransaction):
            client.enqueue("echo", connection=connection)
        with connection.transaction():
            client.enqueue("echo", connection=connection)
        with connection.pipeline(), connection.transaction():
            client.enqueue("echo", connection=connection)
    engine = sqlalchemy.create_engine(url(database_url, "psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection, pytest.raises(NoTransaction):
        client.enqueue("echo", connection=connection)
    engine.dispose()
    assert jobs(database_url) == 2


def test_an_awaited_connection_that_commits_each_statement_by_itself_is_refused(database_url: str) -> None:
    async def main() -> None:
        async with open_client(database_url) as client:
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
                with pytest.raises(NoTransaction):
                    await client.enqueue("echo", connection=connection)
            for driver in ("asyncpg", "psycopg"):
                engine = create_async_engine(url(database_url, driver), isolation_level="AUTOCOMMIT")
                async with engine.connect() as connection:
                    with pytest.raises(NoTransaction):
                        await client.enqueue("echo", connection=connection)
                await engine.dispose()

    in_flavour("asyncio", main)
    assert jobs(database_url) == 0


def test_psycopg_begins_by_itself_and_its_row_factory_is_left_alone(database_url: str) -> None:
    with psycopg.connect(database_url, row_factory=namedtuple_row) as connection:
        made = SyncClient().enqueue("echo", connection=connection)
        assert jobs(database_url) == 0
        row = cast("Any", connection.execute("select 1 as one").fetchone())
        assert (made, row.one) == (1, 1)
    assert jobs(database_url) == 1


def test_a_raw_cursor_as_the_factory_of_the_connection_does_no_harm(database_url: str) -> None:
    for factory in (psycopg.RawCursor, psycopg.ClientCursor):
        with psycopg.connect(database_url, cursor_factory=factory) as connection:
            SyncClient().enqueue("echo", {"percent": "%s"}, connection=connection)
    assert jobs(database_url) == 2


@under_asyncio
async def test_an_asyncpg_connection_that_encodes_json_itself_gets_the_job_once(database_url: str) -> None:
    connection: Any = await cast("Any", asyncpg).connect(database_url)
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=repr, decoder=str)
    async with open_client(database_url) as client:
        async with connection.transaction():
            made = await client.enqueue("echo", {"text": "plain"}, connection=connection)
        assert (await client.get(made)).args == {"text": "plain"}
        async with connection.transaction():
            await client.chains.complete(made, {"text": "done"}, connection=connection)
        assert await client.wait(made, timeout=0) == {"text": "done"}
    await connection.close()


def test_sessions_by_scope_are_taken_and_what_waits_in_them_is_not_flushed(database_url: str) -> None:
    engine = sqlalchemy.create_engine(url(database_url, "psycopg"))
    session = scoped_session(sessionmaker(engine))
    SyncClient().enqueue("echo", connection=session)
    assert jobs(database_url) == 0
    session.commit()
    session.remove()
    engine.dispose()
    assert jobs(database_url) == 1


def test_awaited_sessions_by_scope_are_taken_over_either_driver(database_url: str) -> None:
    async def main() -> None:
        async with open_client(database_url) as client:
            for driver in ("asyncpg", "psycopg"):
                engine = create_async_engine(url(database_url, driver))
                session = async_scoped_session(async_sessionmaker(engine), scopefunc=lambda: 1)
                await client.enqueue("echo", connection=session)
                await session.commit()
                await session.remove()
                async with AsyncSession(engine) as plain:
                    job = await client.jobs.lock(1, connection=plain)
                    assert (job.kind, job.args) == ("echo", {})
                await engine.dispose()

    in_flavour("asyncio", main)
    assert jobs(database_url) == 2


def test_the_awaited_client_takes_blocking_connections_too(database_url: str) -> None:
    async def main() -> None:
        async with open_client(database_url) as client:
            with psycopg.connect(database_url) as connection:
                await client.enqueue("echo", connection=connection)
                assert (await client.jobs.lock(1, connection=connection)).args == {}
                connection.rollback()

    in_flavour("asyncio", main)
    assert jobs(database_url) == 0


@pytest.mark.parametrize("driver", ["asyncpg", "psycopg"])
def test_jobs_are_looked_at_changed_and_deleted_in_the_transaction_too(database_url: str, driver: str) -> None:
    async def main() -> None:
        engine = create_async_engine(url(database_url, driver))
        async with open_client(database_url) as client, AsyncSession(engine) as session:
            first = await client.enqueue("echo", {"a": 1})
            await client.jobs.edit(first, args={"a": '"2"'}, priority=7, metadata={"by": "x"}, connection=session)
            job = await client.jobs.lock(first, connection=session)
            assert (job.args, job.priority, job.metadata) == ({"a": '"2"'}, 7, {"by": "x"})
            assert (await client.get(first)).args == {"a": 1}
            assert await client.jobs.delete(first, connection=session) == "pending"
            await session.commit()
        await engine.dispose()

    in_flavour("asyncio", main)
    assert jobs(database_url) == 0


@under_asyncio
async def test_a_synchronous_client_refuses_what_is_awaited(database_url: str) -> None:
    client = SyncClient()
    raw: Any = await cast("Any", asyncpg).connect(database_url)
    engine = create_async_engine(url(database_url, "asyncpg"))
    async with await psycopg.AsyncConnection.connect(database_url) as other, AsyncSession(engine) as session:
        for connection in (raw, other, session):
            with pytest.raises(BadInput, match=r"is awaited, .*use the client of leasehold\.open_client"):
                client.enqueue("echo", connection=connection)
    await raw.close()
    await engine.dispose()


def test_a_pool_is_no_connection_and_one_of_its_connections_is(database_url: str) -> None:
    async def main() -> None:
        asyncpg_: Any = asyncpg
        async with open_client(database_url) as client, asyncpg_.create_pool(database_url, min_size=1) as pool:
            async with psycopg_pool.AsyncConnectionPool(database_url, min_size=1) as other:
                pools: list[Any] = [pool, other]
                for each in pools:
                    with pytest.raises(BadInput, match=r"Pool is a pool: .* pass that connection"):
                        await client.enqueue("echo", connection=each)
            async with pool.acquire() as connection:
                with pytest.raises(NoTransaction):
                    await client.enqueue("echo", connection=connection)
                transaction = connection.transaction()
                await transaction.start()
                await client.enqueue("echo", connection=connection)
                await transaction.rollback()
                async with connection.transaction():
                    await client.enqueue("echo", connection=connection)

    in_flavour("asyncio", main)
    assert jobs(database_url) == 1


def test_another_database_is_no_place_for_jobs() -> None:
    engine = sqlalchemy.create_engine(SQLITE)
    with Session(engine) as session, pytest.raises(BadInput, match="leads to sqlite"):
        SyncClient().enqueue("echo", connection=session)
    engine.dispose()


@pytest.mark.parametrize("thing", [5, "postgresql://…", object()])
async def test_what_is_no_connection_is_told_what_would_be(database: Database, thing: Any) -> None:
    expected = (
        r"must be of asyncpg, psycopg 3, SQLAlchemy or Django, .*not builtins\..* leasehold\.enqueue_statement\(job\)"
    )
    with pytest.raises(BadInput, match=expected):
        await Client(database).enqueue("echo", connection=thing)
    with pytest.raises(BadInput, match=expected):
        SyncClient().enqueue("echo", connection=thing)
