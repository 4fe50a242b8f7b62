"""Whatever is no connection in a transaction is refused before anything is written, and says what to give instead."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import asyncpg
import psycopg
import psycopg_pool
import pytest
import sqlalchemy
from sqlalchemy.exc import ResourceClosedError
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker

from leasehold import open_client
from leasehold.errors import BadInput, DatabaseUnavailable, NoTransaction
from leasehold.sync import Client as SyncClient
from tests.support.flavours import under_asyncio

DRIVER: Any = asyncpg
Opening = Callable[[str], AbstractAsyncContextManager[Any]]


def url(dsn: str, driver: str) -> sqlalchemy.URL:
    return sqlalchemy.make_url(dsn).set(drivername=f"postgresql+{driver}")


@asynccontextmanager
async def asyncpg_pool(dsn: str) -> AsyncGenerator[Any]:
    async with DRIVER.create_pool(dsn, min_size=1) as pool:
        yield pool


@asynccontextmanager
async def asyncpg_connection(dsn: str) -> AsyncGenerator[Any]:
    connection = await DRIVER.connect(dsn)
    yield connection
    await connection.close()


@asynccontextmanager
async def lent_by_asyncpg(dsn: str) -> AsyncGenerator[Any]:
    async with DRIVER.create_pool(dsn, min_size=1) as pool, pool.acquire() as connection:
        yield connection


@asynccontextmanager
async def closed_asyncpg(dsn: str) -> AsyncGenerator[Any]:
    connection = await DRIVER.connect(dsn)
    await connection.close()
    yield connection


@asynccontextmanager
async def given_back_to_asyncpg(dsn: str) -> AsyncGenerator[Any]:
    async with DRIVER.create_pool(dsn, min_size=1) as pool:
        async with pool.acquire() as connection:
            pass
        yield connection


@asynccontextmanager
async def psycopg_cursor(dsn: str) -> AsyncGenerator[Any]:
    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        yield cursor


@asynccontextmanager
async def psycopg_async_cursor(dsn: str) -> AsyncGenerator[Any]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection, connection.cursor() as cursor:
        yield cursor


@asynccontextmanager
async def psycopg_connection_pool(dsn: str) -> AsyncGenerator[Any]:
    with psycopg_pool.ConnectionPool(dsn, min_size=1) as pool:
        yield pool


@asynccontextmanager
async def psycopg_async_pool(dsn: str) -> AsyncGenerator[Any]:
    async with psycopg_pool.AsyncConnectionPool(dsn, min_size=1) as pool:
        yield pool


@asynccontextmanager
async def psycopg_autocommit(dsn: str) -> AsyncGenerator[Any]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@asynccontextmanager
async def closed_psycopg(dsn: str) -> AsyncGenerator[Any]:
    with psycopg.connect(dsn) as connection:
        pass
    yield connection


@asynccontextmanager
async def engine(dsn: str) -> AsyncGenerator[Any]:
    made = sqlalchemy.create_engine(url(dsn, "psycopg"))
    yield made
    made.dispose()


@asynccontextmanager
async def async_engine(dsn: str) -> AsyncGenerator[Any]:
    made = create_async_engine(url(dsn, "asyncpg"))
    yield made
    await made.dispose()


@asynccontextmanager
async def maker_of_sessions(dsn: str) -> AsyncGenerator[Any]:
    yield sessionmaker(sqlalchemy.create_engine(url(dsn, "psycopg")))


@asynccontextmanager
async def maker_of_async_sessions(dsn: str) -> AsyncGenerator[Any]:
    yield async_sessionmaker(create_async_engine(url(dsn, "asyncpg")))


@asynccontextmanager
async def closed_sqlalchemy(dsn: str) -> AsyncGenerator[Any]:
    made = sqlalchemy.create_engine(url(dsn, "psycopg"))
    with made.connect() as connection:
        pass
    yield connection
    made.dispose()


@asynccontextmanager
async def address(dsn: str) -> AsyncGenerator[Any]:
    yield dsn


REFUSED: Mapping[str, tuple[Opening, type[Exception]]] = {
    "asyncpg pool": (asyncpg_pool, BadInput),
    "asyncpg connection without a transaction": (asyncpg_connection, NoTransaction),
    "connection of an asyncpg pool without a transaction": (lent_by_asyncpg, NoTransaction),
    "closed asyncpg connection": (closed_asyncpg, DatabaseUnavailable),
    "connection that is back in its asyncpg pool": (given_back_to_asyncpg, DatabaseUnavailable),
    "psycopg cursor": (psycopg_cursor, BadInput),
    "psycopg async cursor": (psycopg_async_cursor, BadInput),
    "psycopg pool": (psycopg_connection_pool, BadInput),
    "psycopg async pool": (psycopg_async_pool, BadInput),
    "psycopg connection that commits by itself": (psycopg_autocommit, NoTransaction),
    "closed psycopg connection": (closed_psycopg, DatabaseUnavailable),
    "SQLAlchemy engine": (engine, BadInput),
    "SQLAlchemy async engine": (async_engine, BadInput),
    "sessionmaker": (maker_of_sessions, BadInput),
    "async_sessionmaker": (maker_of_async_sessions, BadInput),
    "closed SQLAlchemy connection": (closed_sqlalchemy, ResourceClosedError),  # its own word
    "address": (address, BadInput),
}


@under_asyncio
async def test_it_is_refused_by_both_clients_and_nothing_is_written(database_url: str) -> None:
    async with open_client(database_url) as client:
        for name, (opening, error) in REFUSED.items():
            async with opening(database_url) as given:
                with pytest.raises(error):
                    await client.enqueue("echo", connection=given)
                with pytest.raises((error, BadInput)):
                    SyncClient().enqueue("echo", connection=given)
                with pytest.raises(error):
                    await client.chains.complete(1, connection=given)
                assert (name, await client.metrics.counts()) == (name, [])
