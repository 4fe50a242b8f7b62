"""Connections to Postgres: a pool, and reserved connections that come back by themselves.

They live on a loop of asyncio, and code under trio asks them across a border: `on_loop` says how. A crossing costs 10 to 50 µs
(decision 70), so who crosses does so once for a batch and never for a job. Cancelling a trio scope cancels the statement on the
server; the connection that ran it is closed or reset before the call returns, so nothing broken goes back to the pool.
"""

# asyncpg carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportInvalidTypeArguments=false, reportAttributeAccessIssue=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

import asyncpg
from asyncpg import Record as Row

from leasehold.database.calls import Caller, on_loop
from leasehold.database.connector import (
    CLOSE_SECONDS,
    Connector,
    Greeter,
    Pooler,
    canceller_of,
    close_connection,
    left_when_read_only,
    prove_hearing,
    translated,
    watch_prepare,
)
from leasehold.database.transactions import Transaction, discard, release
from leasehold.errors import BadInput, ClientClosed, EpochOver
from leasehold.observability.context import current_actor

T = TypeVar("T")

STATEMENT_SECONDS = 30.0  # for a statement, or the wait for a connection, where nobody says how many
SHORTEST_SECONDS = 0.01  # of a statement whose time went by while it waited for a connection
NAME_ACTOR = "select set_config('leasehold.actor', $1, true)"
HURRY = "select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)"
_limits: ContextVar[tuple[str, str] | None] = ContextVar("leasehold_limits", default=None)


class ReservedConnection(Caller):
    """One reserved connection, used by one caller at a time: it never waits behind the pool. After trouble it is thrown away and
    opened anew. Close it, or use it in `async with`."""

    def __init__(self, connector: Connector, application_name: str) -> None:
        self._connector = connector
        self._application_name = application_name
        self._connection: Any = None
        self._generation = 0
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> ReservedConnection:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    @on_loop()
    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement, connecting first where there is no connection. A statement is never sent twice."""
        return await self._use(lambda connection: connection.fetch(sql, *args, timeout=timeout))

    @on_loop()
    async def execute(self, script: str, timeout: float | None = None) -> None:
        """Run a script of any number of statements."""
        await self._use(lambda connection: connection.execute(script, timeout=timeout))

    async def _use(self, action: Callable[[Any], Any]) -> Any:
        generation = self._connector.generation
        async with self._lock:
            with translated():
                if self._generation != self._connector.generation:
                    await self.close()
                if self._connection is None or self._connection.is_closed():
                    self._connection = await self._connector.connect(self._application_name)
                    self._generation = self._connector.generation
                    self.opened += 1
                    if self._generation != generation:
                        raise EpochOver  # what is to be sent was said before the process moved to another epoch
                try:
                    with left_when_read_only(self._connection):
                        return await action(self._connection)
                except asyncpg.PostgresError:
                    if self._connection.is_left:
                        await self.close()
                    raise
                except BaseException:
                    await self.close()
                    raise

    @on_loop(shielded=True)
    async def close(self) -> None:
        """Close the connection; a running statement is cancelled on the server."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await close_connection(connection)


class Database(Caller):
    """A pool of connections, and reserved ones. Open it with `open_asyncio_database`, or under trio with `open_database`."""

    def __init__(
        self,
        dsn: str,
        application_name: str,
        timeout: float | None = None,
        direct_dsn: str | None = None,
        *,
        greeter: Greeter | None = None,
        keepalive: bool = False,
    ) -> None:
        self.dsn = dsn
        self.direct_dsn = direct_dsn
        self.application_name = application_name
        self.timeout = STATEMENT_SECONDS if timeout is None else timeout
        self.greeter = greeter
        self._connector = Connector(dsn, self.timeout, greeter=greeter, keepalive=keepalive)
        self._direct_connector = Connector(direct_dsn, self.timeout, greeter=greeter) if direct_dsn else self._connector
        self._generation = self._connector.generation
        self._pool: Any = None
        self._is_closed = False
        self._to_lend: asyncio.Semaphore | None = None
        self.pool_size = 0
        self.closers: list[Callable[[], Awaitable[None]]] = []

    @on_loop()
    async def open(self, pool_size: int) -> None:
        """Make the pool; no connection is opened before it is needed."""
        self.home, self.pool_size = asyncio.get_running_loop(), pool_size
        self._to_lend = asyncio.Semaphore(pool_size - 1)
        with translated():
            self._pool = await asyncpg.create_pool(
                min_size=0,
                max_size=pool_size,
                max_inactive_connection_lifetime=60.0,
                connect=self._connect,
                reset=self._connector.reset,
            )

    async def _connect(self, *_dsn: object, **_options: object) -> Any:
        return await self._connector.connect(self.application_name)

    @on_loop(shielded=True)
    async def close(self) -> None:
        """End what was added to `closers`, then close every connection, by force after a short while."""
        for end in tuple(self.closers):
            await end()
        self._is_closed = True
        if self._pool is not None:
            at_work = [canceller_of(each._con) for each in self._pool._holders if each._in_use is not None]
            try:
                await asyncio.wait_for(self._pool.close(), CLOSE_SECONDS)
            except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                self._pool.terminate()
                await asyncio.gather(*(cancel() for cancel in at_work))

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The one that it was opened on."""
        assert self.home is not None, "the database is not open"
        return self.home

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be asked of it any more. Read in any thread."""
        return self._is_closed or self.loop.is_closed()

    def stranger(self) -> BadInput:
        """The error for a call from another event loop, which may come after the end."""
        return ClientClosed() if self._is_closed else super().stranger()

    @property
    def pooler(self) -> Pooler | None:
        """What stands before Postgres; None as long as nothing has been asked of the database."""
        return self._connector.pooler

    @property
    def pool(self) -> Any:
        """The asyncpg pool itself, for code of your own."""
        if self._pool is None:
            raise RuntimeError("the database is not open")
        return self._pool

    async def _acquire(self, seconds: float) -> Any:
        if self._is_closed:
            raise ClientClosed
        if self._generation != self._connector.generation:
            self._generation = self._connector.generation
            await self.pool.expire_connections()
        return await self.pool.acquire(timeout=seconds)

    @on_loop()
    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement on a connection of the pool, in the name that `acting_as` has set.

        `timeout` is for both, getting the connection and the statement; a server that stands still costs two seconds more.
        It must leave nothing in its session (SET, LISTEN, locks): nothing is undone after it, which would cost a round
        trip. Scripts and transactions may.
        """
        if current_actor() is not None or _limits.get() is not None:
            async with self.transaction() as transaction:
                return await transaction.fetch(sql, *args, timeout=timeout)
        seconds = self.timeout if timeout is None else timeout
        until = monotonic() + seconds
        with translated():
            connection = await self._acquire(min(seconds, self.timeout))
            try:
                with translated(connection), left_when_read_only(connection):
                    rows = await connection.fetch(sql, *args, timeout=max(until - monotonic(), SHORTEST_SECONDS))
                self._connector.spare_reset(connection)
                return rows
            finally:
                await release(self.pool, connection)

    @on_loop()
    async def fetch_lent(self, timeout: float | None, sql: str, *args: object) -> list[Row]:
        """As `fetch`, for workers in the same program: all of them together leave the client one connection."""
        assert self._to_lend is not None, "the database is not open"
        async with self._to_lend:
            return await self.fetch(sql, *args, timeout=timeout)

    @on_loop()
    async def execute(self, script: str, timeout: float | None = None) -> None:
        """Run a script of any number of statements on a connection of the pool."""
        with translated():
            connection = await self._acquire(self.timeout)
            try:
                watch_prepare(connection, script)
                with left_when_read_only(connection):
                    await connection.execute(script, timeout=timeout)
            finally:
                await release(self.pool, connection)

    @on_loop()
    async def begin(self) -> Transaction:
        """A transaction that the caller has to commit or roll back; nothing else gives its connection back."""
        with translated():
            async with asyncio.timeout(self.timeout):
                return await self._begin()

    async def _begin(self) -> Transaction:
        connection = await self._acquire(self.timeout)
        try:
            transaction = connection.transaction(deferrable=True)  # by which `call_last` knows it again
            await transaction.start()
            if (actor := current_actor()) is not None:
                await connection.fetch(NAME_ACTOR, actor)
            if (limits := _limits.get()) is not None:
                await connection.fetch(HURRY, *limits)
        except BaseException:
            await discard(self.pool, connection)
            raise
        begun = Transaction(connection, transaction, self.pool)
        begun.fit, begun.home, begun.border = self.fit, self.home, self.border
        return begun

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

    async def open_listening(self, channel: str, receive: Callable[[str], object], lost: Callable[[], object]) -> Any:
        """A new connection that listens on `channel`; end it with `close_connection`.

        Args:
            hear: called at once with each payload; must not wait or raise.
            lost: called when the connection has ended, for any reason.

        Raises:
            ListenerDeaf: a pooler stands before Postgres, and what others say does not come through it.
        """
        with translated():
            connection = await self._direct_connector.connect(f"{self.application_name} listener")
            try:
                connection.add_termination_listener(lambda _connection: lost())
                if self._direct_connector.pooler is not Pooler.NONE:
                    await prove_hearing(connection, self)
                await connection.add_listener(
                    channel, lambda _connection, _pid, _channel, payload: receive(str(payload))
                )
            except BaseException:
                await close_connection(connection)
                raise
            return connection

    @on_loop()
    async def in_asyncio(self, function: Callable[..., Awaitable[T]], *args: Any) -> T:
        """Call an asyncio function on the loop that the database lives on."""
        return await function(*args)

    def reserve(self, name: str, *, greeted: bool = True) -> ReservedConnection:
        """A reserved connection outside the pool, opened when first used. `greeted`: by the greeter, if there is one."""
        connector = self._connector if greeted else Connector(self.dsn, self.timeout)
        reserved = ReservedConnection(connector, f"{self.application_name} {name}")
        reserved.fit, reserved.home, reserved.border = self.fit, self.home, self.border
        return reserved


@contextmanager
def hurried(lock: float, statement: float) -> Generator[None]:
    """Inside the block, no statement of a pool waits for longer: `lock` seconds for a lock, `statement` seconds for all."""
    token = _limits.set((f"{lock * 1000:.0f}ms", f"{statement * 1000:.0f}ms"))
    try:
        yield
    finally:
        _limits.reset(token)


@asynccontextmanager
async def open_asyncio_database(
    dsn: str,
    *,
    pool_size: int = 5,
    application_name: str = "leasehold",
    timeout: float | None = None,
    direct_dsn: str | None = None,
) -> AsyncGenerator[Database]:
    """A pool of connections for asyncio programs; see `open_database` for the arguments."""
    database = Database(dsn, application_name, timeout, direct_dsn)
    await database.open(pool_size)
    try:
        yield database
    finally:
        await database.close()
