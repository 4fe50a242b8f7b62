"""The database for trio: each call crosses the border to asyncio, where asyncpg lives.

A crossing costs 10 to 50 µs (decision 70), so callers cross once for a batch and never for a job. Cancelling a trio scope cancels
the statement on the server; the connection that ran it is closed or reset before the call returns, so nothing broken goes back
to the pool. How it crosses: `leasehold.concurrency.asyncio_border`.
"""

# asyncpg carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportInvalidTypeArguments=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio

from leasehold.concurrency.asyncio_border import Driven, cross, crossing, open_loop
from leasehold.concurrency.asyncio_border import current_loop as current_asyncio_loop
from leasehold.concurrency.shared_loop import EndRefused
from leasehold.database.calls import Caller, OpenTransaction
from leasehold.database.connections import AsyncioDatabase, AsyncioReservedConnection
from leasehold.database.connector import Greeter, Pooler, close_connection, translated
from leasehold.database.transactions import PooledTransaction, Row
from leasehold.errors import DatabaseUnavailable

T = TypeVar("T")


class Transaction(OpenTransaction):
    """A transaction, for trio."""

    def __init__(self, inner: PooledTransaction, over: Driven) -> None:
        super().__init__()
        self._inner = inner
        self._over = over
        self.fit = inner.fit

    @property
    def was_cut(self) -> bool:
        """Whether its connection broke before it ended."""
        return self._inner.was_cut

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement inside the transaction."""
        return await self._over.ask(self._inner.fetch, sql, *args, timeout=timeout)

    async def execute(self, sql: str, *args: object, timeout: float | None = None) -> None:
        """Run one statement with values, or a script without, inside the transaction."""
        await self._over.ask(self._inner.execute, sql, *args, timeout=timeout)

    async def commit(self) -> None:
        """Commit. Raises as `PooledTransaction.commit`."""
        try:
            await self._over.ask(self._inner.commit)
        except trio.Cancelled:
            await self.roll_back()  # where it was cancelled on the way there
            raise

    async def roll_back(self) -> None:
        """Undo everything. Cannot be cancelled, and takes a few seconds at most."""
        with trio.CancelScope(shield=True):
            await self._over.ask(self._inner.roll_back)


class ReservedConnection(Caller):
    """One reserved connection, for trio: never waits behind the pool and opens anew after trouble."""

    def __init__(self, inner: AsyncioReservedConnection, over: Driven) -> None:
        self._inner = inner
        self._over = over
        self.fit = inner.fit

    @property
    def opened(self) -> int:
        """How often it was opened."""
        return self._inner.opened

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement, connecting first where there is no connection. A statement is never sent twice."""
        return await self._over.ask(self._inner.fetch, sql, *args, timeout=timeout)

    async def execute(self, script: str, timeout: float | None = None) -> None:
        """Run a script of any number of statements."""
        await self._over.ask(self._inner.execute, script, timeout=timeout)


class Listening:
    """A connection that listens on one channel. `payloads` ends when the connection is lost."""

    def __init__(self, connection: Any, payloads: trio.MemoryReceiveChannel[str], over: Driven) -> None:
        self._connection = connection
        self._over = over
        self.payloads = payloads

    async def notify(self, channel: str, payload: str, timeout: float) -> None:
        """Send a notification over this very connection."""

        async def send() -> None:
            with translated():
                await self._connection.execute("select pg_notify($1, $2)", channel, payload, timeout=timeout)

        await self._over.ask(send)

    async def check(self, channel: str, timeout: float) -> None:
        """Prove that this connection is alive and listens. Raises DatabaseUnavailable."""

        async def ask() -> None:
            with translated():
                rows = await self._connection.fetch("select pg_listening_channels()", timeout=timeout)
            if channel not in {row[0] for row in rows}:
                raise DatabaseUnavailable("the connection has stopped listening")

        await self._over.ask(ask)


class Database(Caller):
    """A pool of connections, and reserved ones, for trio. Open it with `open_database`.

    Whichever task asks it crosses over to the loop that it was opened on.
    """

    def __init__(self, inner: AsyncioDatabase) -> None:
        self._inner = inner
        self._over = crossing()
        self.fit = inner.fit

    @property
    def inner(self) -> AsyncioDatabase:
        """The same database, for code that runs under asyncio in this very loop."""
        return self._inner

    @property
    def dsn(self) -> str:
        """Where it is connected to, as it was given."""
        return self._inner.dsn

    @property
    def pooler(self) -> Pooler | None:
        """What stands before Postgres; None as long as nothing has been asked of the database."""
        return self._inner.pooler

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement on a connection of the pool."""
        return await self._over.ask(self._inner.fetch, sql, *args, timeout=timeout)

    async def execute(self, script: str, timeout: float | None = None) -> None:
        """Run a script of any number of statements on a connection of the pool."""
        await self._over.ask(self._inner.execute, script, timeout=timeout)

    async def begin(self) -> Transaction:
        """A transaction that the caller has to commit or roll back; nothing else gives its connection back."""
        return Transaction(await self._over.ask(self._inner.begin), self._over)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction]:
        """A transaction: commits when the block ends, rolls back when it raises or is cancelled."""
        transaction = await self.begin()
        try:
            yield transaction
        except BaseException:
            await transaction.roll_back()
            raise
        await transaction.commit()
        await transaction.hooks.flush()

    @asynccontextmanager
    async def pool(self, name: str, size: int) -> AsyncGenerator[Database]:
        """Further connections, at most `size`, each opened when it is needed; closed with the block.

        They may stay in a transaction for long, so Postgres looks whether our machine is still there.
        """
        async with _opened(self._inner.make_further(name), size) as database:
            yield database

    @asynccontextmanager
    async def reserve(self, name: str, *, greeted: bool = True) -> AsyncGenerator[ReservedConnection]:
        """A reserved connection outside the pool, opened when first used and closed with the block."""
        inner = self._inner.reserve(name, greeted=greeted)
        try:
            yield ReservedConnection(inner, self._over)
        finally:
            with trio.CancelScope(shield=True):
                await self._over.ask(inner.close)

    @asynccontextmanager
    async def listen(self, channel: str, *, buffer: int = 10_000) -> AsyncGenerator[Listening]:
        """A new connection that listens on `channel`. Payloads beyond `buffer` unread ones are dropped: the socket is always
        read, so a slow reader never holds back the server."""
        sender, receiver = trio.open_memory_channel[str](buffer)

        def hear(payload: str) -> None:
            try:
                sender.send_nowait(payload)
            except (trio.WouldBlock, trio.BrokenResourceError, trio.ClosedResourceError):
                return

        connection = await self._over.ask(self._inner.open_listening, channel, hear, sender.close)
        try:
            yield Listening(connection, receiver, self._over)
        finally:
            with trio.CancelScope(shield=True):
                await self._over.ask(close_connection, connection)
            receiver.close()

    async def in_asyncio(self, function: Callable[..., Awaitable[T]], *args: Any) -> T:
        """Call an asyncio function on the loop that the database lives on."""
        return await self._over.ask(function, *args)


@asynccontextmanager
async def open_database(
    dsn: str,
    *,
    pool_size: int = 5,
    application_name: str = "leasehold",
    timeout: float = 30.0,
    direct_dsn: str | None = None,
    greeter: Greeter | None = None,
) -> AsyncGenerator[Database]:
    """A pool of connections for trio programs; opens the asyncio loop it needs where none runs.

    Args:
        dsn: a Postgres URL; empty: the PG… environment variables decide.
        pool_size: the most connections, without reserved ones and listeners.
        application_name: shown in pg_stat_activity.
        timeout: seconds that any single await on the database may take.
        direct_dsn: where to LISTEN, when `dsn` leads through a pooler that cannot carry notifications.
        greeter: looks at each new connection.

    Raises:
        DatabaseUnavailable: on the first use, where nobody answers.
    """
    inner = AsyncioDatabase(dsn, application_name, timeout, direct_dsn, greeter=greeter)
    async with _opened(inner, pool_size) as database:
        yield database


@asynccontextmanager
async def _opened(inner: AsyncioDatabase, pool_size: int) -> AsyncGenerator[Database]:
    async with _asyncio_loop():
        over = crossing()
        await over.ask(inner.open, pool_size)
        try:
            yield Database(inner)
        finally:
            with trio.CancelScope(shield=True):
                await over.ask(inner.close)


@asynccontextmanager
async def _asyncio_loop() -> AsyncGenerator[None]:
    """The loop that runs already, or a new one. What the block raises comes out as it is."""
    if current_asyncio_loop() is not None:
        yield
        return
    async with open_loop():
        yield


async def run_asyncio(function: Callable[[], Awaitable[T]]) -> T:
    """Run a handler that was written for asyncio. Needs a loop, which every open database provides."""
    try:
        return await cross(function)
    except EndRefused as refused:
        raise refused.__cause__ or refused from None
