"""psycopg 3, sync and async. Rows come as dicts whatever row factory the connection has, with JSON as text and times in UTC."""

# psycopg is an extra, loaded by whoever has a connection of it: nothing of it is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import Any

from leasehold.drivers.adapter import Adapter, AnsweredRow
from leasehold.drivers.failing import told
from leasehold.errors import NoTransaction

IDLE = 0  # of psycopg.pq.TransactionStatus
NO_PIPELINE = 0  # of psycopg.pq.PipelineStatus


def fetch(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement in the transaction of this connection, which psycopg begins by itself unless it commits by itself."""
    refuse_idle(connection)
    with told():
        return fetch_alone(connection, text, values)


def fetch_alone(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement, in a transaction or not. Raises what psycopg raises."""
    psycopg: Any = import_module("psycopg")
    with psycopg.Cursor(connection, row_factory=psycopg.rows.dict_row) as cursor:
        _plain_values(cursor)
        return cursor.execute(text, tuple(values)).fetchall()


async def fetch_async(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch`, on an `AsyncConnection`."""
    refuse_idle(connection)
    psycopg: Any = import_module("psycopg")
    with told():
        async with psycopg.AsyncCursor(connection, row_factory=psycopg.rows.dict_row) as cursor:
            _plain_values(cursor)
            await cursor.execute(text, tuple(values))
            return await cursor.fetchall()


def refuse_idle(connection: Any) -> None:
    """Raise NoTransaction where the statement would commit by itself. In a pipeline nobody knows before it ends."""
    is_alone = connection.autocommit and connection.pgconn.transaction_status == IDLE
    if is_alone and not connection.closed and connection.pgconn.pipeline_status == NO_PIPELINE:
        raise NoTransaction


def _plain_values(cursor: Any) -> None:
    utc_loader, text_loader = _loaders()
    cursor.adapters.register_loader("timestamptz", utc_loader)
    for name in ("json", "jsonb"):
        cursor.adapters.register_loader(name, text_loader)


@cache
def _loaders() -> tuple[type, type]:
    """Of times and of JSON."""
    own: Any = import_module("psycopg.types.datetime").TimestamptzLoader

    class UtcLoader(own):
        """Times in UTC, whatever the session's time zone is."""

        def load(self, data: Any) -> datetime:
            """From what Postgres sends."""
            return super().load(data).astimezone(UTC)

    return UtcLoader, import_module("psycopg.types.string").TextLoader


BLOCKING = Adapter("format", fetch)
AWAITED = Adapter("format", fetch_async, awaits=True)
