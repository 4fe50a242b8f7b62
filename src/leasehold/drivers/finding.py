"""Which adapter takes a connection. Decides by the classes that the connection is of, and imports no library for it."""

from __future__ import annotations

from typing import Any

from leasehold.drivers import django_connection, psycopg_connection, sqlalchemy_connection
from leasehold.drivers.adapter import Adapter
from leasehold.errors import BadInput

ADAPTERS: dict[tuple[str, str], Adapter] = {
    ("psycopg", "Connection"): psycopg_connection.BLOCKING,
    ("psycopg", "AsyncConnection"): psycopg_connection.AWAITED,
    ("sqlalchemy", "Connection"): sqlalchemy_connection.CONNECTION,
    ("sqlalchemy", "Session"): sqlalchemy_connection.SESSION,
    ("sqlalchemy", "scoped_session"): sqlalchemy_connection.SESSION,
    ("sqlalchemy", "AsyncConnection"): sqlalchemy_connection.ASYNC_CONNECTION,
    ("sqlalchemy", "AsyncSession"): sqlalchemy_connection.ASYNC_SESSION,
    ("sqlalchemy", "async_scoped_session"): sqlalchemy_connection.ASYNC_SESSION,
    ("django", "BaseDatabaseWrapper"): django_connection.DJANGO,
    ("django", "ConnectionProxy"): django_connection.DJANGO,
}
"""By the library and the class; subclasses count."""


def find_adapter(connection: Any) -> Adapter | None:
    """The adapter for a connection; None for one of asyncpg, and for what is none."""
    for each in type(connection).__mro__:
        found = ADAPTERS.get((each.__module__.partition(".")[0], each.__name__))
        if found is not None:
            return found
    return None


def refused_connection(connection: Any) -> BadInput:
    """The error for what is no connection that we know."""
    return BadInput(
        "connection must be of asyncpg, psycopg 3, SQLAlchemy or Django, or a transaction of leasehold, not"
        f" {class_name(connection)}; with any other library run the statement of leasehold.enqueue_statement(job)"
    )


def class_name(connection: object) -> str:
    """Of what it is, for messages."""
    made = type(connection)
    return f"{made.__module__}.{made.__name__}"
