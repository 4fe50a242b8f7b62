"""Postgres, seen from trio and from asyncio.

`open_database` is for trio and `open_asyncio_database` for asyncio; both give a `Database`. Only this package knows asyncpg,
`connections`, `transactions` and `connector` above all.

What needs a library is loaded when it is asked for: a synchronous program needs no asyncpg, and one under asyncio no trio.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leasehold.database.calls import Caller, OpenTransaction

if TYPE_CHECKING:
    from leasehold.database.border import open_database
    from leasehold.database.calls import Row
    from leasehold.database.connections import Database, ReservedConnection, open_asyncio_database
    from leasehold.database.transactions import Transaction

__all__ = [
    "Caller",
    "Database",
    "OpenTransaction",
    "ReservedConnection",
    "Row",
    "Transaction",
    "open_asyncio_database",
    "open_database",
]

_PLACES = {
    "Database": "leasehold.database.connections",
    "ReservedConnection": "leasehold.database.connections",
    "Transaction": "leasehold.database.transactions",
    "open_asyncio_database": "leasehold.database.connections",
    "open_database": "leasehold.database.border",
}
"""Where the names lie that are fetched when they are asked for."""


def __getattr__(name: str) -> Any:
    if name == "Row":
        return import_module("asyncpg").Record
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
