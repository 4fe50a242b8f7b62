"""Connections to Postgres in the asyncio flavour: a pool, and reserved connections that come back by themselves."""

# asyncpg and trio-asyncio carry no types; what they return is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportInvalidTypeArguments=false, reportAttributeAccessIssue=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg

from leasehold.database.calls import Caller, Row
from leasehold.database.translation import translated

CLOSE_SECONDS = 2.0


async def connect(dsn: str, application_name: str, timeout: float) -> Any:
    """One new connection. An empty dsn leaves host, user and the rest to the PG… variables."""
    return await asyncpg.connect(
        dsn or None,
        timeout=timeout,  # pyright: ignore[reportArgumentType]  it takes floats
        command_timeout=timeout,
        server_settings={"application_name": application_name},
    )


class AsyncioTransaction(Caller):
    """A transaction on a connection of the pool, or on one that the caller owns."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement inside the transaction."""
        with translated():
            return await self.connection.fetch(sql, *args, timeout=timeout)

    async def execute(self, script: str, timeout: float | None = None) -> None:
        """Run a script of any number of statements inside the transaction."""
        with translated():
            await self.connection.execute(script, timeout=timeout)


class AsyncioLane(Caller):
    """One reserved connection, used by one caller at a time. After trouble it is thrown away and opened anew."""

    def __init__(self, dsn: str, application_name: str, timeout: float) -> None:
        self._dsn = dsn
        self._application_name = application_name
        self._timeout = timeout
        self._connection: Any = None
        self._turn = asyncio.Lock()

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement, connecting first where there is no connection. A statement is never sent twice."""
        return await self._use(lambda connection: connection.fetch(sql, *args, timeout=timeout))

    async def execute(self, script: str, timeout: float | None = None) -> None:
        """Run a script of any number of statements."""
        await self._use(lambda connection: connection.execute(script, timeout=timeout))

    async def _use(self, action: Callable[[Any], Any]) -> Any:
        async with self._turn:
            with translated():
                if self._connection is None or self._connection.is_closed():
                    self._connection = await connect(self._dsn, self._application_name, self._timeout)
                try:
                    return await action(self._connection)
                except asyncpg.PostgresError:
                    raise
                except BaseException:
                    await self.close()
                    raise

    async def close(self) -> None:
        """Close the connection; a running statement is cancelled on the server."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await close_connection(connection)


async def close_connection(connection: Any) -> None:
    """Close politely, and by force when that takes too long or fails."""
    with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
        await connection.close(timeout=CLOSE_SECONDS)
    if not connection.is_closed():
        connection.terminate()


class AsyncioDatabase(Caller):
    """A pool of connections, for asyncio. Open it with `open_asyncio_database`."""

    def __init__(self, dsn: str, application_name: str, timeout: float) -> None:
        self.dsn = dsn
        self.application_name = application_name
        self.timeout = timeout
        self._pool: Any = None

    async def open(self, pool_size: int) -> None:
        """Make the pool; no connection is opened before it is needed."""
        with translated():
            self._pool = await asyncpg.create_pool(
                self.dsn or None,
                min_size=0,
                max_size=pool_size,
                timeout=self.timeout,
                command_timeout=self.timeout,
                max_inactive_connection_lifetime=60.0,
                server_settings={"application_name": self.application_name},
            )

    async def close(self) -> None:
        """Close every connection, by force after a short while."""
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._pool.close(), CLOSE_SECONDS)
            except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                self._pool.terminate()

    @property
    def pool(self) -> Any:
        """The asyncpg pool itself, for code of your own."""
        if self._pool is None:
            raise RuntimeError("the database is not open")
        return self._pool

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement on a connection of the pool."""
        with translated():
            async with self.pool.acquire(timeout=self.timeout) as connection:
                return await connection.fetch(sql, *args, timeout=timeout)

    async def execute(self, script: str, timeout: float | None = None) -> None:
        """Run a script of any number of statements on a connection of the pool."""
        with translated():
            async with self.pool.acquire(timeout=self.timeout) as connection:
                await connection.execute(script, timeout=timeout)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[AsyncioTransaction]:
        """A transaction: commits when the block ends, rolls back when it raises."""
        with translated():
            connection = await self.pool.acquire(timeout=self.timeout)
        try:
            transaction = connection.transaction()
            with translated():
                await transaction.start()
            try:
                yield AsyncioTransaction(connection)
            except BaseException:
                with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
                    await transaction.rollback()
                raise
            with translated():
                await transaction.commit()
        finally:
            with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
                await self.pool.release(connection, timeout=CLOSE_SECONDS)

    def lane(self, name: str) -> AsyncioLane:
        """A reserved connection outside the pool, opened when first used."""
        return AsyncioLane(self.dsn, f"{self.application_name} {name}", self.timeout)


@asynccontextmanager
async def open_asyncio_database(
    dsn: str, *, pool_size: int = 5, application_name: str = "leasehold", timeout: float = 30.0
) -> AsyncGenerator[AsyncioDatabase]:
    """A pool of connections for asyncio programs; see `open_database` for the arguments."""
    database = AsyncioDatabase(dsn, application_name, timeout)
    await database.open(pool_size)
    try:
        yield database
    finally:
        await database.close()
