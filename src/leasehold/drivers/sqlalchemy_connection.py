"""SQLAlchemy 2: Connection and Session, sync and async, over whatever driver its engine has."""

# SQLAlchemy is loaded by whoever has a connection of it: nothing of it is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from leasehold.drivers.adapter import Adapter, AnsweredRow
from leasehold.drivers.failing import told
from leasehold.drivers.statements import parameters
from leasehold.errors import BadInput, NoTransaction


def fetch(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement on a `Connection`, in the transaction that SQLAlchemy has begun or begins now."""
    if connection.dialect.name != "postgresql":
        raise BadInput(f"jobs live in Postgres; this connection of SQLAlchemy leads to {connection.dialect.name}")
    with told():
        if getattr(connection.connection.dbapi_connection, "autocommit", False) is True:
            raise NoTransaction
        made: Any = import_module("sqlalchemy").text(text)
        return [dict(row) for row in connection.execute(made, parameters(values, "named")).mappings()]


def fetch_of_session(session: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch`, on the connection of a `Session`. Nothing is flushed."""
    return fetch(session.connection(), text, values)


async def fetch_async(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch`, on an `AsyncConnection`."""
    return await connection.run_sync(fetch, text, values)


async def fetch_of_async_session(session: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch`, on the connection of an `AsyncSession`. Nothing is flushed."""
    return await fetch_async(await session.connection(), text, values)


CONNECTION = Adapter("named", fetch)
SESSION = Adapter("named", fetch_of_session)
ASYNC_CONNECTION = Adapter("named", fetch_async, awaits=True)
ASYNC_SESSION = Adapter("named", fetch_of_async_session, awaits=True)
