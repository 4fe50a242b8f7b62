"""Postgres, seen from trio and from asyncio.

`open_database` is for trio and `open_asyncio_database` for asyncio; both give the same calls. The border between the
two lies in `border`, the only module that knows trio-asyncio; `connections`, `transactions`, `pooler` and `translation` are
the only ones that know asyncpg.

`border` is loaded when something of it is asked for: importing trio-asyncio changes the event loop policy of the whole
process, which an asyncio program that only enqueues must not notice.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leasehold.concurrency.flavour import running_flavour
from leasehold.database.calls import Caller, OpenTransaction, Row
from leasehold.database.connections import AsyncioDatabase, open_asyncio_database
from leasehold.database.transactions import AsyncioTransaction, PooledTransaction

if TYPE_CHECKING:
    from leasehold.database.border import Database, Listening, ReservedConnection, Transaction, open_database

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


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("leasehold.database.border"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
