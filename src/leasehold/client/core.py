"""What the client and all its nouns share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import isawaitable
from typing import Any, TypeVar

import msgspec

from leasehold.app import App
from leasehold.asks import Ask, kind_in, observers_of
from leasehold.client.chain_ends import ChainEnds
from leasehold.client.convoy import Convoy
from leasehold.database import Caller, Row
from leasehold.database.calls import from_row
from leasehold.database.connector import is_open, translated
from leasehold.drivers import Adapter, Style, find_adapter, refused_connection
from leasehold.errors import DatabaseUnavailable, NoTransaction
from leasehold.jobs.middleware import EnqueueMiddleware
from leasehold.notify.doorbell import Doorbell
from leasehold.payloads.archive import Archive
from leasehold.payloads.claim_checks import Locker
from leasehold.payloads.options import PayloadOptions


async def fetch_asyncpg(connection: Any, text: str, values: Sequence[Any]) -> list[Row]:
    """Run one statement."""
    with translated(connection):
        return await connection.fetch(text, *values)


ASYNCPG = Adapter("numeric_dollar", fetch_asyncpg, awaits=True)


class DriverTransaction(Caller):
    """The transaction of the caller, on their connection. One that blocks does so here as with any other statement on it."""

    def __init__(self, connection: Any, adapter: Adapter) -> None:
        self._connection = connection
        self._adapter = adapter

    @property
    def style(self) -> Style:
        """That of the library."""
        return self._adapter.style

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement, written in the style of the driver. `timeout` is for those that are awaited."""
        rows: Any = self._adapter.fetch(self._connection, sql, args)
        if not isawaitable(rows):
            return rows
        async with asyncio.timeout(timeout):
            return await rows


T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


@dataclass(eq=False, repr=False)
class Core:
    """The database that a client calls, and what surrounds its calls.

    Attributes:
        database: makes the calls. app: checks jobs and brings its middlewares and events; None without one.
        doorbell: wakes workers after the commit; None: the database does it inside the transaction.
        kind: finds the kind of a name as workers have it; None where this client has no app. Raises UnknownKind.
        middlewares: go around what this client enqueues, inside those of the app.
        listens: whether waits for chains may open a connection that listens.
        payloads: where payloads lie.
        observers: hear the events of this client; with an app they are the app's.
        convoy: sends single jobs that are enqueued at the same time together; None: each goes alone.
    """

    database: Caller
    app: App | None
    doorbell: Doorbell | None
    listens: bool
    convoy: Convoy | None
    payloads: PayloadOptions

    def __post_init__(self) -> None:
        self.middlewares: list[EnqueueMiddleware] = []
        self.kind = partial(kind_in, self.app)
        self.observers = observers_of(self.app)

    @cached_property
    def ends(self) -> ChainEnds:
        """Waits for the ends of chains; all waits of a client share it."""
        return ChainEnds(self.database, listens=self.listens)

    @cached_property
    def archive(self) -> Archive:
        """The payloads of this database."""
        return Archive(self.database, self.payloads.store, self.payloads.limit)

    @cached_property
    def locker(self) -> Locker:
        """Large args and outputs."""
        return self.payloads.locker(self.archive)

    def caller(self, connection: Any) -> Caller:
        """Makes the call: the database, or the caller's own transaction. Raises BadInput for anything else, and of a connection of
        asyncpg NoTransaction where none is open, DatabaseUnavailable where it is closed; the other libraries tell at the call."""
        if connection is None:
            return self.database
        if isinstance(connection, Caller):
            return connection
        adapter = find_adapter(connection)
        if adapter is not None:
            return DriverTransaction(connection, adapter)
        # Not by `fetch` alone: a pool has that as well, and would give each statement another connection.
        if not all(callable(getattr(connection, name, None)) for name in ("is_in_transaction", "fetch")):
            raise refused_connection(connection)
        if not is_open(connection):
            raise DatabaseUnavailable("the connection cannot be used: it is closed, or back in its pool")
        if not connection.is_in_transaction():
            raise NoTransaction
        return DriverTransaction(connection, ASYNCPG)


async def answered(ask: Ask[T], caller: Caller) -> T:
    """What comes of an ask."""
    return ask.read(await caller.call(ask.function, *ask.values))


class Part:
    """A part of the client: it holds the core that all parts share, and nothing else."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._database = core.database

    async def _ask(self, ask: Ask[T]) -> T:
        return await answered(ask, self._database)

    async def _records(self, record: type[S], function: str, *values: object, timeout: float | None = None) -> list[S]:
        rows = await self._database.call(function, *values, timeout=timeout)
        return [from_row(record, row) for row in rows]
