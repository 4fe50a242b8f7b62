"""The database for trio programs: opening it, with the loop of asyncio that it lives on, and listening.

How its calls come over to that loop: `leasehold.concurrency.asyncio_border`.
"""

# asyncpg carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportInvalidTypeArguments=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any, TypeVar

import trio

from leasehold.concurrency.asyncio_border import cross, crossing, open_loop
from leasehold.concurrency.asyncio_border import current_loop as current_asyncio_loop
from leasehold.concurrency.shared_loop import EndRefused
from leasehold.database.connections import Database
from leasehold.database.connector import Greeter, close_connection, translated
from leasehold.errors import DatabaseUnavailable

T = TypeVar("T")


class Listening:
    """A connection that listens on one channel. `payloads` ends when the connection is lost."""

    def __init__(self, connection: Any, payloads: trio.MemoryReceiveChannel[str], database: Database) -> None:
        self._connection = connection
        self._database = database
        self.payloads = payloads

    async def notify(self, channel: str, payload: str, timeout: float) -> None:
        """Send a notification over this very connection."""

        async def send() -> None:
            with translated():
                await self._connection.execute("select pg_notify($1, $2)", channel, payload, timeout=timeout)

        await self._database.in_asyncio(send)

    async def check(self, channel: str, timeout: float) -> None:
        """Prove that this connection is alive and listens. Raises DatabaseUnavailable."""

        async def ask() -> None:
            with translated():
                rows = await self._connection.fetch("select pg_listening_channels()", timeout=timeout)
            if channel not in {row[0] for row in rows}:
                raise DatabaseUnavailable("the connection has stopped listening")

        await self._database.in_asyncio(ask)


@asynccontextmanager
async def listen(database: Database, channel: str, *, buffer: int = 10_000) -> AsyncGenerator[Listening]:
    """A new connection that listens on `channel`. Payloads beyond `buffer` unread ones are dropped: the socket is always
    read, so a slow reader never holds back the server."""
    sender, receiver = trio.open_memory_channel[str](buffer)

    def receive(payload: str) -> None:
        try:
            sender.send_nowait(payload)
        except (trio.WouldBlock, trio.BrokenResourceError, trio.ClosedResourceError):
            return

    connection = await database.in_asyncio(database.open_listening, channel, receive, sender.close)
    try:
        yield Listening(connection, receiver, database)
    finally:
        with trio.CancelScope(shield=True):
            await database.in_asyncio(close_connection, connection)
        receiver.close()


@asynccontextmanager
async def open_database(
    dsn: str,
    *,
    pool_size: int = 5,
    application_name: str = "leasehold",
    timeout: float | None = None,
    direct_dsn: str | None = None,
    greeter: Greeter | None = None,
) -> AsyncGenerator[Database]:
    """A pool of connections for trio programs; opens the asyncio loop it needs where none runs.

    Args:
        dsn: a Postgres URL; empty: the PG… environment variables decide.
        pool_size: the most connections, without reserved ones and listeners.
        application_name: shown in pg_stat_activity.
        timeout: seconds that any single await on the database may take; None: 30.
        direct_dsn: where to LISTEN, when `dsn` leads through a pooler that cannot carry notifications.
        greeter: looks at each new connection.

    Raises:
        DatabaseUnavailable: on the first use, where nobody answers.
    """
    async with _opened(Database(dsn, application_name, timeout, direct_dsn, greeter=greeter), pool_size) as database:
        yield database


@asynccontextmanager
async def open_further(database: Database, size: int, timeout: float | None = None) -> AsyncGenerator[Database]:
    """Further connections, for handlers, at most `size`, each opened when it is needed; closed with the block. `timeout`: seconds
    of a statement; None: as those that are there.

    They may stay in a transaction for long, so Postgres looks whether our machine is still there.
    """
    dsn, label = database.dsn, f"{database.application_name} handlers"
    timeout = database.timeout if timeout is None else timeout
    made = Database(dsn, label, timeout, database.direct_dsn, greeter=database.greeter, keepalive=True)
    async with _opened(made, size) as further:
        yield further


@asynccontextmanager
async def _opened(database: Database, pool_size: int) -> AsyncGenerator[Database]:
    async with open_loop() if current_asyncio_loop() is None else nullcontext():
        database.border = crossing()
        database.home = database.border.loop
        await database.open(pool_size)
        try:
            yield database
        finally:
            await database.close()


async def run_asyncio(function: Callable[[], Awaitable[T]]) -> T:
    """Run a handler that was written for asyncio. Needs a loop, which every open database provides."""
    try:
        return await cross(function)
    except EndRefused as refused:
        raise refused.__cause__ or refused from None
