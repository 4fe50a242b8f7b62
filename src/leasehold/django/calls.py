"""Calls of our SQL functions on the connections of Django."""

# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, TypeVar

from django.db import connections

from leasehold.asks.ask import Ask
from leasehold.drivers.django_connection import fetch_alone
from leasehold.drivers.statements import call_text

T = TypeVar("T")


def ask_on(alias: str, ask: Ask[T]) -> T:
    """What comes of an ask, in the transaction of this thread's connection if one is open. Raises our errors."""
    connection: Any = connections[alias]
    return ask.read(fetch_alone(connection, call_text(ask.function, len(ask.values), style="format"), ask.values))
