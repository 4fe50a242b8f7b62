"""Connections of callers that encode and decode values in their own way, in a transaction that the block commits."""

# asyncpg carries no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import asyncpg
import psycopg
import sqlalchemy
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg.types.string import TextLoader
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, create_async_engine

Opening = Callable[[str], AbstractAsyncContextManager[Any]]


async def set_codecs(connection: Any) -> None:
    """As many programs do with JSON, and some with times and ids; none of these takes or gives what asyncpg would."""
    for name in ("json", "jsonb"):
        await connection.set_type_codec(name, schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    for name in ("timestamptz", "uuid"):
        await connection.set_type_codec(name, schema="pg_catalog", encoder="the {}".format, decoder="the {}".format)


@asynccontextmanager
async def of_asyncpg(dsn: str) -> AsyncGenerator[Any]:
    """asyncpg, with codecs of its own for everything that may have one."""
    connection: Any = await asyncpg.connect(dsn)
    await set_codecs(connection)
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def of_asyncpg_with_bytes(dsn: str) -> AsyncGenerator[Any]:
    """asyncpg, with the binary codec for jsonb that goes with libraries that make bytes."""
    connection: Any = await asyncpg.connect(dsn)
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=_encode,
        decoder=_decode,
        format="binary",
    )
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def of_asyncpg_with_settings(dsn: str) -> AsyncGenerator[Any]:
    """asyncpg, in a session that writes values in its own way."""
    settings = {
        "bytea_output": "escape",
        "DateStyle": "German",
        "IntervalStyle": "sql_standard",
        "TimeZone": "Asia/Kathmandu",
    }
    connection: Any = await asyncpg.connect(dsn, server_settings=settings)
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


def _encode(value: object) -> bytes:
    return b"\x01" + json.dumps(value).encode()


def _decode(encoded: bytes) -> object:
    return json.loads(encoded[1:])


@asynccontextmanager
async def of_psycopg(dsn: str) -> AsyncGenerator[Any]:
    """psycopg, with its own JSON, and with times and ids as text."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        set_json_dumps(json.dumps, connection)
        set_json_loads(lambda text: {"loaded": json.loads(text)}, connection)
        for name in ("timestamptz", "uuid"):
            connection.adapters.register_loader(name, TextLoader)
        yield connection


@asynccontextmanager
async def of_sqlalchemy(dsn: str) -> AsyncGenerator[AsyncConnection]:
    """SQLAlchemy over asyncpg, with its own JSON."""
    made = sqlalchemy.make_url(dsn).set(drivername="postgresql+asyncpg")
    engine = create_async_engine(made, json_serializer=json.dumps, json_deserializer=json.loads)
    async with engine.begin() as connection:
        yield connection
    await engine.dispose()


@asynccontextmanager
async def of_session(dsn: str) -> AsyncGenerator[AsyncSession]:
    """SQLAlchemy's session over psycopg, with its own JSON."""
    made = sqlalchemy.make_url(dsn).set(drivername="postgresql+psycopg")
    engine = create_async_engine(made, json_serializer=json.dumps, json_deserializer=json.loads)
    async with AsyncSession(engine) as session, session.begin():
        yield session
    await engine.dispose()


CODECS: Mapping[str, Opening] = {
    "asyncpg": of_asyncpg,
    "asyncpg, bytes": of_asyncpg_with_bytes,
    "asyncpg, settings": of_asyncpg_with_settings,
    "psycopg": of_psycopg,
    "SQLAlchemy AsyncConnection, asyncpg": of_sqlalchemy,
    "SQLAlchemy AsyncSession, psycopg": of_session,
}
