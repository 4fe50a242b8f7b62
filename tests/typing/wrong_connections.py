"""What is no connection as `connection=`, each marked with the rule that says so, and every kind of connection that there is."""

from __future__ import annotations

import asyncpg
import psycopg
import sqlalchemy
from asyncpg.pool import PoolConnectionProxy
from django.db import connection as of_django
from django.db import connections
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    AsyncSession,
    async_scoped_session,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from leasehold import Client, OpenTransaction
from leasehold.sync import Client as SyncClient


async def accepted(
    client: Client,
    ours: OpenTransaction,
    raw: asyncpg.Connection,
    lent: PoolConnectionProxy,
    awaited: psycopg.AsyncConnection,
    connection: AsyncConnection,
    session: AsyncSession,
    scoped: async_scoped_session[AsyncSession],
) -> None:
    await client.enqueue("mail", connection=ours)
    await client.enqueue("mail", connection=raw)
    await client.enqueue("mail", connection=lent)
    await client.enqueue("mail", connection=awaited)
    await client.enqueue("mail", connection=connection)
    await client.enqueue("mail", connection=session)
    await client.enqueue("mail", connection=scoped)
    await client.enqueue("mail", connection=of_django)
    async with client.transaction() as transaction:
        await client.jobs.lock(1, connection=transaction)


def accepted_without_await(
    client: SyncClient,
    blocking: psycopg.Connection,
    connection: sqlalchemy.Connection,
    session: Session,
    scoped: scoped_session[Session],
) -> None:
    client.enqueue("mail", connection=blocking)
    client.enqueue("mail", connection=connection)
    client.enqueue("mail", connection=session)
    client.enqueue("mail", connection=scoped)
    client.enqueue("mail", connection=of_django)
    client.enqueue("mail", connection=connections["other"])
    with client.transaction() as transaction:
        client.enqueue("mail", connection=transaction)


async def refused(client: Client, pool: asyncpg.Pool, other: AsyncConnectionPool, engine: AsyncEngine) -> None:
    await client.enqueue("mail", connection=pool)  # refused: reportArgumentType
    await client.enqueue("mail", connection=other)  # refused: reportArgumentType
    await client.enqueue("mail", connection=engine)  # refused: reportArgumentType
    await client.enqueue_many([], connection=pool)  # refused: reportArgumentType
    await client.jobs.lock(1, connection=pool)  # refused: reportArgumentType
    await client.jobs.delete(1, connection=pool)  # refused: reportArgumentType
    await client.chains.complete(1, connection=async_sessionmaker(engine))  # refused: reportArgumentType


def refused_without_await(client: SyncClient, pool: ConnectionPool, engine: sqlalchemy.Engine) -> None:
    client.enqueue("mail", connection=pool)  # refused: reportArgumentType
    client.enqueue("mail", connection=engine)  # refused: reportArgumentType
    client.enqueue("mail", connection=sessionmaker(engine))  # refused: reportArgumentType
    client.enqueue("mail", connection=create_async_engine("…"))  # refused: reportArgumentType
