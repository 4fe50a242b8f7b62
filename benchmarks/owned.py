"""Connections that belong to the caller, of each library: a transaction, a savepoint, a row of the caller's, a job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import asyncpg
import psycopg
import sqlalchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from leasehold import Client, NewJob, open_client
from leasehold.sync import Client as SyncClient

TABLE = "create table orders (id serial primary key)"
WRITE = "insert into orders default values"
SQL: Any = sqlalchemy.text(WRITE)
DRIVER: Any = asyncpg
DJANGO_ITSELF: Any = import_module("django")
DJANGO: Any = import_module("django.db")
TRANSACTION: Any = import_module("django.db.transaction")
SETTINGS: Any = import_module("django.conf").settings

T = TypeVar("T")
Scope = Callable[[], AbstractAsyncContextManager[Any]]


class Owned(NamedTuple):
    """One connection of the caller's.

    Attributes:
        transaction, savepoint: blocks that commit, or undo what was done in them when they raise.
        write: the caller's own statement. enqueue: returns the id of the job.
    """

    transaction: Scope
    savepoint: Scope
    write: Callable[[], Awaitable[object]]
    enqueue: Callable[[NewJob[Any]], Awaitable[int]]


class Thread:
    """Where blocking code of one connection runs: one thread, for Django's connections belong to theirs."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1)

    def __enter__(self) -> Thread:
        return self

    def __exit__(self, *_error: object) -> None:
        self._executor.shutdown()

    async def call(self, function: Callable[..., T], *args: Any, **named: Any) -> T:
        """What the function returns there."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(function, *args, **named))

    @asynccontextmanager
    async def within(self, make: Callable[[], AbstractContextManager[Any]]) -> AsyncGenerator[None]:
        """A block that is entered and left there."""
        scope = await self.call(make)
        await self.call(scope.__enter__)
        try:
            yield
        except BaseException as error:
            await self.call(scope.__exit__, type(error), error, error.__traceback__)
            raise
        await self.call(scope.__exit__, None, None, None)


Opening = Callable[[str], AbstractAsyncContextManager[Owned]]


@asynccontextmanager
async def of_asyncpg(dsn: str) -> AsyncGenerator[Owned]:
    """asyncpg, as it is."""
    async with _client(dsn) as client:
        connection: Any = await DRIVER.connect(dsn)
        try:
            yield Owned(
                connection.transaction,
                connection.transaction,
                lambda: connection.execute(WRITE),
                partial(client.enqueue, connection=connection),
            )
        finally:
            await connection.close()


@asynccontextmanager
async def of_psycopg(dsn: str) -> AsyncGenerator[Owned]:
    """psycopg 3 in blocking code."""
    with Thread() as thread, SyncClient() as client, psycopg.connect(dsn, autocommit=True) as connection:
        yield Owned(
            lambda: thread.within(connection.transaction),
            lambda: thread.within(connection.transaction),
            lambda: thread.call(connection.execute, WRITE),
            partial(thread.call, client.enqueue, connection=connection),
        )


@asynccontextmanager
async def of_psycopg_async(dsn: str) -> AsyncGenerator[Owned]:
    """psycopg 3 under asyncio."""
    async with _client(dsn) as client, await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        yield Owned(
            connection.transaction,
            connection.transaction,
            lambda: connection.execute(WRITE),
            partial(client.enqueue, connection=connection),
        )


@asynccontextmanager
async def of_sqlalchemy(dsn: str, opening: Callable[[Engine], Connection | Session]) -> AsyncGenerator[Owned]:
    """SQLAlchemy's Connection or Session, over psycopg."""
    engine = sqlalchemy.create_engine(_dialect(dsn, "psycopg"))
    with Thread() as thread, SyncClient() as client, opening(engine) as connection:
        connection.rollback()
        yield Owned(
            lambda: thread.within(connection.begin),
            lambda: thread.within(connection.begin_nested),
            lambda: thread.call(connection.execute, SQL),
            partial(thread.call, client.enqueue, connection=connection),
        )
    engine.dispose()


@asynccontextmanager
async def of_sqlalchemy_async(
    dsn: str, opening: Callable[[AsyncEngine], AsyncConnection | AsyncSession]
) -> AsyncGenerator[Owned]:
    """SQLAlchemy's AsyncConnection or AsyncSession, over asyncpg."""
    engine = create_async_engine(_dialect(dsn, "asyncpg"))
    async with _client(dsn) as client, opening(engine) as connection:
        yield Owned(
            connection.begin,
            connection.begin_nested,
            lambda: connection.execute(SQL),
            partial(client.enqueue, connection=connection),
        )
    await engine.dispose()


def tell_django(dsn: str, alias: str) -> None:
    """Django knows the database by this alias from now on."""
    if not SETTINGS.configured:
        SETTINGS.configure(USE_TZ=True)
        DJANGO_ITSELF.setup()
    made = sqlalchemy.make_url(dsn)
    place = {"NAME": made.database, "USER": made.username, "PASSWORD": made.password or "", "PORT": made.port or ""}
    host = {"ENGINE": "django.db.backends.postgresql", "HOST": made.host or made.query.get("host")}
    every = DJANGO.connections
    every.settings |= every.configure_settings({"default": {}, alias: {**place, **host}})


def close_in_django(alias: str) -> None:
    """Close the connection of this thread, and forget it."""
    DJANGO.connections[alias].close()
    del DJANGO.connections[alias]


@asynccontextmanager
async def of_django(dsn: str) -> AsyncGenerator[Owned]:
    """Django's connection, over psycopg."""
    alias = f"own_{uuid4().hex}"
    every = DJANGO.connections

    def write() -> None:
        with every[alias].cursor() as cursor:
            cursor.execute(WRITE)

    def enqueue(job: NewJob[Any]) -> int:
        return client.enqueue(job, connection=every[alias])

    tell_django(dsn, alias)
    with Thread() as thread, SyncClient() as client:
        try:
            yield Owned(
                lambda: thread.within(lambda: TRANSACTION.atomic(using=alias)),
                lambda: thread.within(lambda: TRANSACTION.atomic(using=alias)),
                lambda: thread.call(write),
                partial(thread.call, enqueue),
            )
        finally:
            await thread.call(close_in_django, alias)


CONNECTIONS: Mapping[str, Opening] = {
    "asyncpg": of_asyncpg,
    "psycopg": of_psycopg,
    "psycopg, async": of_psycopg_async,
    "SQLAlchemy Connection": partial(of_sqlalchemy, opening=Engine.connect),
    "SQLAlchemy Session": partial(of_sqlalchemy, opening=Session),
    "SQLAlchemy AsyncConnection": partial(of_sqlalchemy_async, opening=AsyncEngine.connect),
    "SQLAlchemy AsyncSession": partial(of_sqlalchemy_async, opening=AsyncSession),
    "Django": of_django,
}


def _client(dsn: str) -> AbstractAsyncContextManager[Client]:
    return open_client(dsn, listens=False)


def _dialect(dsn: str, driver: str) -> sqlalchemy.URL:
    return sqlalchemy.make_url(dsn).set(drivername=f"postgresql+{driver}")
