"""Postgres, seen from trio and from asyncio.

`open_database` is for trio and `open_asyncio_database` for asyncio; both give the same calls. The border between the two
lies in `border`, the only module that knows trio-asyncio; `connections` and `translation` are the only ones that know
asyncpg.
"""

from leasehold.database.border import Database, Lane, Listening, Transaction, open_database
from leasehold.database.calls import Caller, Row
from leasehold.database.connections import AsyncioDatabase, AsyncioTransaction, open_asyncio_database
from leasehold.database.flavour import running_flavour

__all__ = [
    "AsyncioDatabase",
    "AsyncioTransaction",
    "Caller",
    "Database",
    "Lane",
    "Listening",
    "Row",
    "Transaction",
    "open_asyncio_database",
    "open_database",
    "running_flavour",
]
