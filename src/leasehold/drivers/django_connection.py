"""Django's connections: `django.db.connection`, and those of `django.db.connections`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leasehold.drivers.adapter import Adapter, AnsweredRow
from leasehold.drivers.failing import told
from leasehold.errors import BadInput, NoTransaction

POSTGRES = "postgresql"


def fetch(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement in the `atomic` block that is open. Without one Django commits each statement by itself."""
    with told():
        if connection.vendor == POSTGRES and connection.get_autocommit():
            raise NoTransaction
        return fetch_alone(connection, text, values)


def fetch_alone(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement, in a transaction or not."""
    if connection.vendor != POSTGRES:
        raise BadInput(f"jobs live in Postgres; this connection of Django leads to {connection.vendor}")
    with told(), connection.cursor() as cursor:
        cursor.execute(text, tuple(values))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


DJANGO = Adapter("format", fetch)
