"""Postgres, seen from trio and from asyncio.

`open_database` is for trio and `open_asyncio_database` for asyncio; both give the same calls. The border between the
two is crossed in `border`; only this package knows asyncpg, `connections`, `transactions` and `connector` above all.

What needs a library is loaded when it is asked for: a synchronous program needs no asyncpg, and one under asyncio no trio.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leasehold.concurrency.flavours import running_flavour
from leasehold.database.calls import Caller, OpenTransaction

if TYPE_CHECKING:
    from leasehold.database.border import Database, Listening, ReservedConnection, Transaction, open_database
    from leasehold.database.calls import Row
    from leasehold.database.connections import AsyncioDatabase, open_asyncio_database
    from leasehold.database.transactions import AsyncioTransaction, PooledTransaction

__all__ = [
    "AsyncioDatabase",
    "AsyncioTransaction",
    "Caller",
    "Database",
    "Listening",
    "OpenTransaction",
    "PooledTransaction",
    "ReservedConnection",
    "Row",
    "Transaction",
    "open_asyncio_database",
    "open_database",
    "running_flavour",
]

_PLACES = {
    "AsyncioDatabase": "leasehold.database.connections",
    "AsyncioTransaction": "leasehold.database.transactions",
    "PooledTransaction": "leasehold.database.transactions",
    "open_asyncio_database": "leasehold.database.connections",
}
"""Where the names lie that are fetched when they are asked for; the others lie in `border`."""


def __getattr__(name: str) -> Any:
    if name == "Row":
        return import_module("asyncpg").Record
    if name in __all__:
        return getattr(import_module(_PLACES.get(name, "leasehold.database.border")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
